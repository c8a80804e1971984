OPERATORS = {"gemv": lambda t, p: lambda: t["y"].addmv_(t["a"], t["x"], alpha=p["alpha"], beta=p["beta"])}
