"""One file per step, which is never changed once it was released."""
