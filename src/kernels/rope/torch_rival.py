import torch


def turned(x, cos, sin, interleaved):
    x = x.float()
    first, second = (x[..., ::2], x[..., 1::2]) if interleaved else x.chunk(2, -1)
    pair = first * cos - second * sin, second * cos + first * sin
    return torch.stack(pair, -1).flatten(-2) if interleaved else torch.cat(pair, -1)


def rope(names, direction):
    def make(t, p, wrap):
        if "cos" not in t:
            raise NotImplementedError("PyTorch is given a table of angles")
        queries, keys = (t.get(name) for name in names)
        if keys is None:
            raise NotImplementedError("queries alone: PyTorch is timed with queries and keys")
        first = int(p["first_position"])
        rows = slice(first, first + queries.shape[-3])
        cos, sin = (t[name][rows][:, None, :] for name in ("cos", "sin"))
        interleaved = bool(p["interleaved"])

        def both(q, k, cos, sin):
            sin = direction * sin
            return turned(q, cos, sin, interleaved).to(q.dtype), turned(k, cos, sin, interleaved).to(k.dtype)

        f = wrap(both)
        return lambda: f(queries, keys, cos, sin)
    return make


FUSED = {"rope": rope(("q", "k"), 1), "rope_backward": rope(("dq_out", "dk_out"), -1)}
