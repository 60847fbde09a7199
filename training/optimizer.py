"""Muon for the matrices of the blocks, AdamW for the rest."""

import torch


def orthogonal(wide):
    """[n, r, c] with r <= c, each replaced by about the nearest matrix with equal singular values (Newton-Schulz, as in
    Muon)."""
    x = wide.bfloat16() if wide.is_cuda else wide
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(5):
        gram = x @ x.transpose(1, 2)
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=-4.7750, alpha=2.0315), x, beta=3.4445)
    return x.to(wide.dtype)


class Muon(torch.optim.Optimizer):
    """Momentum, orthogonalised (Jordan et al. 2024), with steps of AdamW's size. Takes the blocks' matrices; those that
    hold several maps stacked are taken apart. Matrices of one shape are handled together, tall ones turned on their side."""

    def __init__(self, matrices, lr, momentum=0.95, weight_decay=0.1):
        groups = {}
        for matrix, maps in matrices:
            groups.setdefault((maps, *matrix.shape), []).append(matrix)
        super().__init__([{"params": ms, "maps": key[0]} for key, ms in groups.items()],
                         {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self):
        updates = [self.momentum_update(group) for group in self.param_groups]  # [maps, r, c] each
        wide = [u.transpose(1, 2) if u.shape[1] > u.shape[2] else u for u in updates]
        for shape in dict.fromkeys(w.shape[1:] for w in wide):
            members = [i for i, w in enumerate(wide) if w.shape[1:] == shape]
            parts = orthogonal(torch.cat([wide[i] for i in members])).split([len(wide[i]) for i in members])
            for i, part in zip(members, parts):
                tall = updates[i].shape[1] > updates[i].shape[2]
                self.apply(self.param_groups[i], part.transpose(1, 2) if tall else part)

    def momentum_update(self, group):
        grads = torch.stack([m.grad for m in group["params"]])
        state = self.state[group["params"][0]]
        if "momentum" not in state:
            state["momentum"] = torch.zeros_like(grads)
        state["momentum"].lerp_(grads, 1 - group["momentum"])
        update = grads.lerp(state["momentum"], group["momentum"])
        return update.view(len(grads) * group["maps"], -1, update.shape[-1])

    @staticmethod
    def apply(group, directions):
        matrices = group["params"]
        changes = directions.reshape(len(matrices), *matrices[0].shape).unbind(0)
        torch._foreach_mul_(matrices, 1 - group["lr"] * group["weight_decay"])
        torch._foreach_add_(matrices, list(changes), alpha=-group["lr"] * 0.2 * max(directions.shape[1:]) ** 0.5)


def make_optimizers(model, options):
    stacked = {"qkv": 3, "gate_up": 2}
    inner = [(weight, stacked.get(name.split(".")[-2], 1)) for name, weight in model.named_parameters()
             if name.startswith("blocks") and weight.dim() == 2]
    chosen = {id(weight) for weight, _ in inner} if options.optimizer == "muon" else set()
    rest = [weight for weight in model.parameters() if id(weight) not in chosen]
    groups = [{"params": [w for w in rest if w.dim() == 2], "weight_decay": 0.1 if not chosen else 0.01},
              {"params": [w for w in rest if w.dim() == 1], "weight_decay": 0.0}]
    fused = {"fused": True} if model.head.weight.is_cuda else {}
    adam = torch.optim.AdamW(groups, lr=options.lr, betas=(0.9, 0.95), **fused)
    return [adam] + ([Muon(inner, options.lr)] if chosen else [])
