import torch


def of_segments(reduction, of_none):
    def make(t, p):
        if not t["x"].dtype.is_floating_point:
            raise NotImplementedError("PyTorch's segment_reduce takes floating-point numbers only")
        return lambda: torch.segment_reduce(t["x"], reduction, offsets=t["offsets"], initial=of_none, unsafe=True)
    return make


OPERATORS = {
    "segmented_sum": of_segments("sum", 0),
    "segmented_max": of_segments("max", float("-inf")),
    "segmented_min": of_segments("min", float("inf")),
    "segmented_mean": of_segments("mean", None),
}
