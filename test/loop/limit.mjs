/**
 * The limit of a file is that of its silence: on a busy machine a long one takes many times as long, and says so by each test
 * that ends. One that never ends, however much it says, has so many limits.
 */
const MOST_LIMITS = 4;

/** The machine's time; tests turn one of their own. */
const machine = {
  after(ms, then) {
    const timer = setTimeout(then, ms);
    return { stop: () => clearTimeout(timer) };
  },
};

/**
 * Calls `end` once, with the reason, when a file was silent for `limitS` seconds, or has taken four times as long.
 *
 * @param {number} limitS
 * @param {(reason: string) => void} end
 * @returns `spoke` is called when the file says something, `stop` when it has ended
 */
export function limited(limitS, end, clock = machine) {
  const silence = () => clock.after(limitS * 1000, () => over(`after ${limitS} s without a word`));
  const over = (reason) => {
    stop();
    end(reason);
  };
  const whole = clock.after(MOST_LIMITS * limitS * 1000, () => over(`after ${MOST_LIMITS * limitS} s`));
  let silent = silence();
  let isOver = false;
  const stop = () => {
    isOver = true;
    silent.stop();
    whole.stop();
  };
  return {
    stop,
    spoke() {
      if (isOver) return;
      silent.stop();
      silent = silence();
    },
  };
}
