import numpy as np
class Wrong:
    """Cuts a row."""
    def __init__(self, model): pass
