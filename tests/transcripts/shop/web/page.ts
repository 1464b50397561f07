import { euros, type Receipt } from "./receipt";

export function show(receipt: Receipt): string {
  return `<p>${receipt.lines} lines: ${euros(receipt)}</p>`;
}
