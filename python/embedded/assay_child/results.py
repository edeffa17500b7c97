"""What scripts get of a runner's outputs, in the shape of Polygraphy's class of this name."""


class IterationResult(dict):
    """Output names to arrays, in the runner's order. `runtime`: seconds, or None."""

    def __init__(self, outputs=(), runtime=None, runner_name=""):
        super().__init__(outputs)
        self.runtime, self.runner_name = runtime, runner_name

    @property
    def outputs(self):
        return self

    @classmethod
    def of(cls, message):
        return cls(message["outputs"], message["runtime"], message["runner_name"])
