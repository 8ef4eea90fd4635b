"""Checks of the factors that paradigms state."""

from collections.abc import Iterator

from gardenpath.study.formula_columns import find_name_fault

from .segmentation import Fault, SegmentedMaterials


def find_invalid_factor_names(segmented: SegmentedMaterials) -> Iterator[Fault]:
    """Yield the factors that could be no column of the tables; one called condition is, where it is the only one."""
    for paradigm in segmented.materials.paradigms:
        for factor in paradigm.factors:
            if [*paradigm.factors] != ["condition"] and (fault := find_name_fault(factor)):
                yield paradigm, "", fault
