from polygraphy.comparator.comparator import Comparator  # noqa: F401
from polygraphy.comparator.compare import *  # noqa: F401,F403
from polygraphy.comparator.data_loader import DataLoader, StreamingDataLoader  # noqa: F401
from polygraphy.comparator.postprocess import BasePostprocessFunc, PostprocessFunc, TopKPostprocessFunc  # noqa: F401
from polygraphy.comparator.struct import AccuracyResult, AccuracyResults, IterationResult, RunResults  # noqa: F401
