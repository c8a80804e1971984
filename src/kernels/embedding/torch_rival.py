import torch
import torch.nn.functional as F


def backward(t, p):
    if t["dy"].dtype != torch.float32:
        raise NotImplementedError("PyTorch keeps the gradient of a 16-bit table in 16 bits")
    vocab = t["dtable"].shape[0]
    return lambda: t["dtable"].add_(
        torch.ops.aten.embedding_dense_backward(t["dy"], t["tokens"], vocab, -1, False))


OPERATORS = {"embedding": lambda t, p: lambda: F.embedding(t["tokens"], t["table"]), "embedding_backward": backward}
