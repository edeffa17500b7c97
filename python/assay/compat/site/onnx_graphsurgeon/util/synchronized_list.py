"""Lists of which the elements know who lists them."""

from __future__ import annotations

from typing import Any, Iterable, List, SupportsIndex


class SynchronizedList(list):
    """The tensors of a node, or the nodes of a tensor: every change is made on the other side, too.

    An element has a list named `field_name`, in which `parent_obj` stands once for each place that the element has
    here. Slices can be read, but neither assigned nor deleted. A copy is an ordinary list.
    """

    __slots__ = ("parent_obj", "field_name")

    def __init__(self, parent_obj: Any, field_name: str, initial: Iterable[Any]) -> None:
        super().__init__()
        self.parent_obj = parent_obj
        self.field_name = field_name
        self.extend(initial)

    def _other_side(self, elem: Any) -> list:
        try:
            return getattr(elem, self.field_name)
        except AttributeError:
            raise AttributeError(
                "{!r} cannot be an input or output: it is a {:}, which has no {!r}; nodes have tensors, and tensors have "
                "nodes".format(elem, type(elem).__name__, self.field_name.lstrip("_"))
            ) from None

    def _add_to_elem(self, elem: Any) -> None:
        list.append(self._other_side(elem), self.parent_obj)

    def _remove_from_elem(self, elem: Any) -> None:
        remove_identical(self._other_side(elem), self.parent_obj)

    def __delitem__(self, index: SupportsIndex) -> None:  # type: ignore[override]
        self._refuse_slice(index)
        elem = self[index]
        self._remove_from_elem(elem)
        super().__delitem__(index)

    def __setitem__(self, index: SupportsIndex, elem: Any) -> None:  # type: ignore[override]
        self._refuse_slice(index)
        old = self[index]
        self._other_side(elem)  # an element of a wrong type changes nothing
        self._remove_from_elem(old)
        self._add_to_elem(elem)
        super().__setitem__(index, elem)

    @staticmethod
    def _refuse_slice(index: Any) -> None:
        if isinstance(index, slice):
            raise AttributeError(
                "the inputs and outputs of nodes and tensors cannot be changed by slices; change them one by one, "
                "or assign a whole new list"
            )

    def append(self, x: Any) -> None:
        """Adds an element at the end. An AttributeError if it has no list of the other side."""
        list.append(self._other_side(x), self.parent_obj)
        list.append(self, x)

    def extend(self, iterable: Iterable[Any]) -> None:
        """Adds elements at the end."""
        elems = list(iterable)
        parent = self.parent_obj
        for other_side in [self._other_side(elem) for elem in elems]:
            list.append(other_side, parent)
        list.extend(self, elems)

    def insert(self, i: SupportsIndex, x: Any) -> None:
        """Adds an element before place `i`."""
        self._add_to_elem(x)
        super().insert(i, x)

    def remove(self, x: Any) -> None:
        """Removes the first place of `x`, or of its equal. A ValueError if there is none."""
        index = identical_index(self, x)
        del self[self.index(x) if index < 0 else index]

    def pop(self, i: SupportsIndex = -1) -> Any:
        """Removes and returns the element at place `i`."""
        elem = super().pop(i)
        self._remove_from_elem(elem)
        return elem

    def clear(self) -> None:
        """Removes all elements."""
        for elem in self:
            self._remove_from_elem(elem)
        super().clear()

    def replace(self, elems: Iterable[Any]) -> None:
        """Removes all elements and adds others, which may be taken from this list."""
        elems = list(elems)
        self.clear()
        self.extend(elems)

    def __add__(self, other_list: Iterable[Any]) -> List[Any]:  # type: ignore[override]
        return list(self) + list(other_list)

    def __iadd__(self, other_list: Iterable[Any]) -> "SynchronizedList":  # type: ignore[override,misc]
        self.extend(other_list)
        return self

    def __copy__(self) -> List[Any]:
        return list(self)

    def __deepcopy__(self, memo: Any) -> List[Any]:
        # The elements stay: a copy of them would drag the whole graph along.
        return list(self)

    def __reduce__(self) -> Any:
        # The elements are part of the state, since lists are otherwise filled before it is there.
        return (_empty, (), (self.parent_obj, self.field_name, list(self)))

    def __setstate__(self, state: Any) -> None:
        self.parent_obj, self.field_name, elems = state
        list.extend(self, elems)


def _empty() -> SynchronizedList:
    return SynchronizedList.__new__(SynchronizedList)


def identical_index(elems: list, elem: Any) -> int:
    """The place of an object itself in a list, -1 if it is not there; equality does not count."""
    for index, other in enumerate(elems):
        if other is elem:
            return index
    return -1


def remove_identical(elems: list, elem: Any) -> None:
    """Removes the first place of an object itself from a list, without touching any other list."""
    for index, other in enumerate(elems):
        if other is elem:
            list.__delitem__(elems, index)
            return
