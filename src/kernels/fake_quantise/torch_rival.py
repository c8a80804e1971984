import torch


def forward(t, p):
    zero = t.get("zero_point")
    zero = torch.zeros_like(t["scale"], dtype=torch.int32) if zero is None else zero
    low, high = int(p["low"]), int(p["high"])
    return lambda: torch.fake_quantize_per_tensor_affine(t["x"], t["scale"], zero, low, high)


def forward_rows(t, p):
    zero = t.get("zero_point")
    zero = torch.zeros_like(t["scale"], dtype=torch.int32) if zero is None else zero
    low, high = int(p["low"]), int(p["high"])
    return lambda: torch.fake_quantize_per_channel_affine(t["x"], t["scale"], zero, 0, low, high)


OPERATORS = {"fake_quantise": forward, "fake_quantise_rows": forward_rows}
