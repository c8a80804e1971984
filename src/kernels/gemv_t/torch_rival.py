OPERATORS = {"gemv_t": lambda t, p: lambda: t["y"].addmv_(t["a"].t(), t["x"], alpha=p["alpha"], beta=p["beta"])}
