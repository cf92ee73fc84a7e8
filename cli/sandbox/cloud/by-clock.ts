// What the cloud does again and again by itself, in real time.

/** Until what it returns is called. A run that takes longer than the time between two is not run twice at once. */
export function everyMs(ms: number, run: () => Promise<void>): () => void {
  let isRunning = false;
  const timer = setInterval(() => {
    if (isRunning) return;
    isRunning = true;
    void run()
      .catch((error: Error) => process.emitWarning(error))
      .finally(() => {
        isRunning = false;
      });
  }, ms);
  // Nothing stays open for it.
  timer.unref();
  return () => clearInterval(timer);
}
