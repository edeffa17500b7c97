"""Dictionaries and lists that check what is put into them.

They derive from neither dict nor list: those JSON would write without asking anybody."""

import copy
from collections import OrderedDict

from polygraphy.logger import G_LOGGER


def _copied(original, name, value):
    twin = type(original).__new__(type(original))
    vars(twin).update(vars(original))
    setattr(twin, name, value)
    return twin


def TypedDict(key_type_func, value_type_func):
    """A class to derive from: a dictionary `dct` from one type to another. The types come from functions, which are called when an
    object is made, so that packages that have them need not be loaded before."""

    class Interface:
        def __init__(self, dct=None):
            self.dct = OrderedDict(dct or {})
            self.key_type, self.value_type = key_type_func(), value_type_func()

        def _check_types(self, key, val):
            for what, value, kind in (("key", key, self.key_type), ("value", val, self.value_type)):
                if not isinstance(value, kind):
                    G_LOGGER.critical(f"Unsupported {what} type in {type(self).__name__}: {value!r} (for {key!r}) is a "
                                      f"`{type(value).__name__}`, and not a `{kind.__name__}`")

        def keys(self):
            return self.dct.keys()

        def values(self):
            return self.dct.values()

        def items(self):
            return self.dct.items()

        def update(self, other):
            for key, value in other.items():
                self._check_types(key, value)
            self.dct.update(other)

        def __contains__(self, key):
            return key in self.dct

        def __getitem__(self, key):
            return self.dct[key]

        def __setitem__(self, key, val):
            self._check_types(key, val)
            self.dct[key] = val

        def __len__(self):
            return len(self.dct)

        def __iter__(self):
            return iter(self.dct)

        def __eq__(self, other):
            return self.dct == getattr(other, "dct", NotImplemented)

        def __str__(self):
            return str(self.dct)

        def __repr__(self):
            return repr(self.dct)

        def __copy__(self):
            return _copied(self, "dct", copy.copy(self.dct))

        def __deepcopy__(self, memo):
            return _copied(self, "dct", copy.deepcopy(self.dct, memo))

    return Interface


def TypedList(elem_type_func):
    """A class to derive from: a list `lst` of elements of one type, which comes from a function."""

    class Interface:
        def __init__(self, lst=None):
            self.lst = [] if lst is None else lst
            self.elem_type = elem_type_func()

        def _check_type(self, elem):
            if not isinstance(elem, self.elem_type):
                G_LOGGER.critical(f"Unsupported element type in {type(self).__name__}: {elem!r} is a `{type(elem).__name__}`, and "
                                  f"not a `{self.elem_type.__name__}`")

        def __contains__(self, key):
            return key in self.lst

        def __getitem__(self, index):
            return self.lst[index]

        def __setitem__(self, index, elem):
            self._check_type(elem)
            self.lst[index] = elem

        def append(self, elem):
            self._check_type(elem)
            self.lst.append(elem)

        def extend(self, elems):
            elems = list(elems)
            for elem in elems:
                self._check_type(elem)
            self.lst.extend(elems)

        def __iadd__(self, elems):
            self.extend(elems)
            return self

        def __len__(self):
            return len(self.lst)

        def __iter__(self):
            return iter(self.lst)

        def __eq__(self, other):
            return self.lst == getattr(other, "lst", NotImplemented)

        def __str__(self):
            return str(self.lst)

        def __repr__(self):
            return repr(self.lst)

        def __copy__(self):
            return _copied(self, "lst", copy.copy(self.lst))

        def __deepcopy__(self, memo):
            return _copied(self, "lst", copy.deepcopy(self.lst, memo))

    return Interface
