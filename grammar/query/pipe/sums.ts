/**
 * A sum and what its rounding has lost (Neumaier's compensated sum). Together they have twice the digits of a number, so that
 * neither the order of what is added nor its parts show in the value: each engine adds in another order.
 */
export interface ExactSum {
  sum: number;
  lost: number;
}

export function addToSum(total: ExactSum, value: number): void {
  const { sum } = total;
  const next = sum + value;
  total.lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
  total.sum = next;
}

export function mergeSums(total: ExactSum, { sum, lost }: Readonly<ExactSum>): void {
  addToSum(total, sum);
  total.lost += lost;
}

/** The sum, rounded once; no finite number if it is too large for one. */
export const valueOfSum = ({ sum, lost }: Readonly<ExactSum>): number => sum + lost;
