"""What is done with outputs before they are compared."""

from polygraphy import mod, util

__all__ = ["BasePostprocessFunc", "PostprocessFunc", "TopKPostprocessFunc"]


class BasePostprocessFunc:
    """An object that makes an IterationResult of another when it is called."""

    def __call__(self, iter_result):
        raise NotImplementedError(f"{type(self).__name__} has no __call__()")


class TopKPostprocessFunc(BasePostprocessFunc):
    """The places of the greatest elements. `k`: how many (10), or (how many, along which axis), or these by output."""

    def __init__(self, k=None):
        self.k = util.default(k, 10)

    def __call__(self, iter_result):
        for name in list(iter_result.keys()):
            wanted = util.value_or_from_dict(self.k, name)
            if wanted:
                count, axis = wanted if util.is_sequence(wanted) else (wanted, -1)
                iter_result[name] = util.array.topk(iter_result[name], count, axis)[1]
        return iter_result


class PostprocessFunc:
    """The older names."""

    @staticmethod
    @mod.deprecate(remove_in="0.60.0", use_instead="TopKPostprocessFunc", name="PostprocessFunc.top_k")
    def top_k(k=None):
        return TopKPostprocessFunc(k=k)
