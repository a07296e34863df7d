/**
 * The t with P(|T| < t) = confidence for Student's distribution with a whole number of degrees of freedom, at least 1.
 * Found by bisection of the closed forms of Abramowitz and Stegun, 26.7.3 and 26.7.4, to the last digits of a double.
 * @throws RangeError when an argument is out of its range.
 */
export function studentT(confidence: number, degreesOfFreedom: number): number {
  if (!(confidence > 0 && confidence < 1)) throw new RangeError(`confidence ${confidence} is not between 0 and 1`);
  if (!Number.isInteger(degreesOfFreedom) || degreesOfFreedom < 1) {
    throw new RangeError(`${degreesOfFreedom} degrees of freedom: a whole number from 1 is needed`);
  }
  // In the angle θ = atan(t/√ν) the whole line is a finite stretch.
  let low = 0;
  let high = Math.PI / 2;
  for (let i = 0; i < 80; i++) {
    const middle = (low + high) / 2;
    if (within(middle, degreesOfFreedom) < confidence) low = middle;
    else high = middle;
  }
  return Math.tan((low + high) / 2) * Math.sqrt(degreesOfFreedom);
}

/** P(T > t) for Student's distribution with a whole number of degrees of freedom, at least 1. */
export function studentTTail(t: number, degreesOfFreedom: number): number {
  const inside = within(Math.atan(Math.abs(t) / Math.sqrt(degreesOfFreedom)), degreesOfFreedom);
  return t >= 0 ? (1 - inside) / 2 : (1 + inside) / 2;
}

/** P(|T| < √ν tan θ). */
function within(theta: number, degreesOfFreedom: number): number {
  const odd = degreesOfFreedom % 2 === 1;
  const cosine = Math.cos(theta);
  let term = odd ? cosine : 1;
  let sum = degreesOfFreedom > 1 ? term : 0;
  for (let k = odd ? 3 : 2; k <= degreesOfFreedom - 2; k += 2) {
    term *= ((k - 1) / k) * cosine * cosine;
    sum += term;
  }
  return odd ? (2 / Math.PI) * (theta + Math.sin(theta) * sum) : Math.sin(theta) * sum;
}
