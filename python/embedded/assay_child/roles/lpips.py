"""`--compare perceptual_metrics`: LPIPS, the learned distance of images of https://arxiv.org/abs/1801.03924, by the
user's packages torch and lpips (AlexNet, version 0.1, on the CPU)."""

from ..failures import ScriptError


class Role:
    def open(self):
        """Imports the packages and makes the network, whose weights torchvision may have to fetch."""
        import lpips
        import torch

        self._torch = torch
        try:
            self._network = lpips.LPIPS(net="alex", version="0.1", verbose=False).to("cpu").eval()
        except OSError as e:  # urllib's errors are such
            raise ScriptError(f"the weights of AlexNet for LPIPS could not be read or fetched: {e}",
                              remedy="Let torchvision fetch them once (torchvision.models.alexnet(weights='DEFAULT')).") from None

    def distance(self, first, second):
        """The mean over the images, or why there is none."""
        for array in (first, second):
            if array.ndim not in (3, 4):
                return {"reason": f"LPIPS is of images, of 3 or 4 dimensions, and not of shape {array.shape}"}
            if array.size == 0:
                return {"reason": "there are no pixels"}
        pair = _scaled([_channels_first(array.astype("float32")) for array in (first, second)])
        smallest = min(pair[0].shape[2:])
        try:
            with self._torch.no_grad():
                images = [self._torch.from_numpy(_three_channels(array)) for array in pair]
                return {"distance": float(self._network(*images).mean())}
        except RuntimeError as e:
            return {"reason": f"the network refuses images of {pair[0].shape[2]}x{pair[0].shape[3]} pixels: {e}" if smallest < 32 else str(e)}


def _channels_first(array):
    """[images, channels, height, width]; at most three numbers along the last axis are taken for channels."""
    if array.ndim == 3:
        array = array[None]
    return array.transpose(0, 3, 1, 2) if array.shape[3] <= 3 else array


def _scaled(pair):
    """What the network was trained on lies in [-1, 1]. Both images are brought there in the same way: bytes beyond 1
    anywhere mean 0 to 255, no negative number anywhere means 0 to 1."""
    if max(array.max() for array in pair) > 1:
        pair = [array / 255 for array in pair]
    if max(array.max() for array in pair) <= 1 and min(array.min() for array in pair) >= 0:
        pair = [array * 2 - 1 for array in pair]
    return pair


def _three_channels(array):
    """Grey is repeated, the second of two channels doubled, what is beyond three left out."""
    channels = array.shape[1]
    places = [0, 0, 0] if channels == 1 else [0, 1, 1] if channels == 2 else [0, 1, 2]
    return array[:, places].copy()
