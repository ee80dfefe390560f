import type { Contract } from './contract.ts'

/** The text of contract.json; each run of the line maps stays on one line. */
export function contractJson(contract: Contract): string {
  const text = JSON.stringify(contract, null, 2)
  return `${text.replace(/\[\s+(\d+),\s+("[^"]*"),\s+(\d+)\s+\]/g, '[$1, $2, $3]')}\n`
}
