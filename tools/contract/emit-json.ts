import type { Contract, OperationContract, ShippedContract, ShippedOperation } from './contract.ts'
import { isRun, Pieces, type SentFile } from './pieces.ts'

/** Longer ones are broken into lines, except for lists of numbers. */
const LONGEST_LINE = 160

/** The text of contract.json: what is short stays on one line, because a line of its own for each value costs a fifth. */
export function contractJson(contract: Contract): string {
  return `${written(shipped(contract), '\n')}\n`
}

function written(value: unknown, line: string): string {
  const text = JSON.stringify(value)
  if (typeof value !== 'object' || value === null || text.length <= LONGEST_LINE) return text
  const inner = `${line} `
  if (!Array.isArray(value)) {
    const fields = Object.entries(value).filter(([, each]) => each !== undefined)
    return `{${inner}${fields.map(([name, each]) => `${JSON.stringify(name)}:${written(each, inner)}`).join(`,${inner}`)}${line}}`
  }
  if (value.every((each) => typeof each === 'number')) return text
  return `[${inner}${value.map((each) => written(each, inner)).join(`,${inner}`)}${line}]`
}

function shipped(contract: Contract): ShippedContract {
  const pieces = new Pieces(contract)
  const { files } = pieces
  const operations = Object.entries(contract.operations).map(([name, operation]) => [
    name,
    operationOf(operation, pieces, files),
  ])
  return {
    format: 2,
    version: contract.version,
    clock: contract.clock,
    structures: contract.structures,
    texts: files.map(({ file, lines }) => ({
      file,
      numbers: lines.map(({ line }) => line),
      lines: lines.map(({ text }) => text),
    })),
    operations: Object.fromEntries(operations),
  }
}

function operationOf(
  operation: OperationContract,
  pieces: Pieces,
  files: readonly SentFile[],
): ShippedOperation {
  const { source: _source, lines: _lines, ...others } = operation
  const taken = pieces
    .of(operation)
    .map((piece) =>
      isRun(piece) ? ([files.indexOf(piece.of), piece.from, piece.count] as const) : piece.text,
    )
  return { ...others, pieces: taken }
}
