import type { Contract, OperationContract, ShippedContract, ShippedOperation } from './contract.ts'
import { isRun, Pieces, type SentFile } from './pieces.ts'

/** The text of contract.json; numbers in a list stay on one line. */
export function contractJson(contract: Contract): string {
  const text = JSON.stringify(shipped(contract), null, 1)
  // A text in JSON has no line break.
  return `${text.replace(/\[\n[\d,\s]+\]/g, (list) => list.replaceAll(/\s/g, ''))}\n`
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
