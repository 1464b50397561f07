/** A receipt as the page shows it. */
export interface Receipt {
  lines: number;
  cents: number;
}

export function euros(receipt: Receipt): string {
  return (receipt.cents / 100).toFixed(2);
}
