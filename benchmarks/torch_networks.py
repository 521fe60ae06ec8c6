"""The OCP-NN in PyTorch, with the weights of ours: a peer for benchmarks, no dependency."""

from importlib import import_module
from typing import Any

import numpy as np

__all__ = ["torch_module", "torch_ocp_nn"]


def torch_module() -> Any:
    """PyTorch, or None where it is not installed."""
    try:
        return import_module("torch")
    except ImportError:
        return None


def torch_ocp_nn(torch: Any, tensors: Any, device: str = "cpu") -> Any:
    """``model(x, state) -> (y, state)`` on (batch, time, 5)."""

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            sizes = [(4, 16), (1, 16), (32, 48), (48, 48)]
            self.layers = torch.nn.ModuleList([torch.nn.LSTM(n, h, batch_first=True) for n, h in sizes])
            self.out = torch.nn.Linear(48, 1)
            with torch.no_grad():
                for k, layer in enumerate(self.layers):
                    layer.weight_ih_l0.copy_(torch.tensor(np.asarray(tensors[f"{k}.W"]).T.copy()))
                    layer.weight_hh_l0.copy_(torch.tensor(np.asarray(tensors[f"{k}.U"]).T.copy()))
                    layer.bias_ih_l0.copy_(torch.tensor(np.array(tensors[f"{k}.b"])))
                    layer.bias_hh_l0.zero_()
                self.out.weight.copy_(torch.tensor(np.asarray(tensors["4.W"]).T.copy()))
                self.out.bias.copy_(torch.tensor(np.array(tensors["4.b"])))

        def forward(self, x: Any, state: Any = None) -> Any:
            s = state or [None] * 4
            a, s0 = self.layers[0](x[..., :4], s[0])
            b, s1 = self.layers[1](x[..., 4:], s[1])
            h, s2 = self.layers[2](torch.cat([a, b], -1), s[2])
            h, s3 = self.layers[3](h, s[3])
            return self.out(h), [s0, s1, s2, s3]

    return Model().to(device)
