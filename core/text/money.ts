import { significant } from './quantities.ts';

/** An amount of money, as `2.50 EUR`. */
export function moneyText(amount: number, currency: string | null): string {
  return currency === null ? significant(amount) : `${significant(amount)} ${currency}`;
}
