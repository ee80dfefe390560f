// What scripts are made of: each line that is sent of a file of Lua once, and which of these lines each script takes. The generated modules
// and contract.json hold scripts so.

import type { Contract, OperationContract } from './contract.ts'
import { locate } from './locate.ts'

/** A line of a file as scripts have it; one that differs between scripts is there several times. */
export interface SentLine {
  readonly line: number
  readonly text: string
}

/** What is sent of a file, in the order in which scripts have it. */
export interface SentFile {
  readonly file: string
  readonly lines: readonly SentLine[]
}

/** Lines of a file: the first, from 0, and how many. */
export interface Run {
  readonly of: SentFile
  readonly from: number
  readonly count: number
}

/** Lines that the compiler writes for one script: its keys, and the table of them. */
export interface KeyLines {
  readonly text: string
}

export type Piece = Run | KeyLines

export function isRun(piece: Piece): piece is Run {
  return 'of' in piece
}

/** All lines that the scripts of a contract have, and what each takes of them. */
export class Pieces {
  readonly #files = new Map<string, { readonly file: string; readonly lines: SentLine[] }>()
  readonly #places = new Map<string, number>()

  constructor({ operations }: Contract) {
    const scripts = Object.values(operations).map((operation) =>
      linesOf(operation).filter((line) => !isOfKeys(line)),
    )
    for (const line of byTakers(scripts)) this.#add(line)
  }

  /** Sorted by their names. */
  get files(): SentFile[] {
    return [...this.#files.values()].toSorted((one, next) => (one.file < next.file ? -1 : 1))
  }

  /** What is joined with line breaks to be the script. */
  of(operation: OperationContract): Piece[] {
    const pieces: Piece[] = []
    for (const line of linesOf(operation)) {
      const next = this.#pieceOf(line)
      const last = pieces.at(-1)
      const both = last === undefined ? null : joined(last, next)
      if (both === null) pieces.push(next)
      else pieces[pieces.length - 1] = both
    }
    return pieces
  }

  #pieceOf(line: PlacedLine): Piece {
    const of = this.#files.get(line.file)
    return of === undefined
      ? { text: line.text }
      : { of, from: this.#places.get(nameOf(line)) ?? 0, count: 1 }
  }

  #add({ file, line, text }: PlacedLine): void {
    const name = nameOf({ file, line, text })
    if (this.#places.has(name)) return
    const known = this.#files.get(file) ?? { file, lines: [] }
    this.#files.set(file, known)
    this.#places.set(name, known.lines.length)
    known.lines.push({ line, text })
  }
}

/** Null where they do not follow each other. */
function joined(last: Piece, next: Piece): Piece | null {
  if (!isRun(last)) return isRun(next) ? null : { text: `${last.text}\n${next.text}` }
  const follows = isRun(next) && last.of === next.of && last.from + last.count === next.from
  return follows ? { ...last, count: last.count + next.count } : null
}

interface PlacedLine extends SentLine {
  readonly file: string
}

function linesOf({ source, lines }: OperationContract): PlacedLine[] {
  return source.split('\n').map((text, at) => ({ ...locate(lines, at + 1), text }))
}

function nameOf({ file, line, text }: PlacedLine): string {
  return `${file}:${line} ${text}`
}

/**
 * For each file first what most scripts have of it, in the same way: it stands together, and they take it in few pieces.
 */
function byTakers(scripts: readonly (readonly PlacedLine[])[]): PlacedLine[] {
  const files = [...new Set(scripts.flat().map(({ file }) => file))]
  return files.flatMap((file) => {
    const takers = new Map<string, { part: readonly PlacedLine[]; lines: number }>()
    for (const lines of scripts) {
      const part = lines.filter((line) => line.file === file)
      const name = part.map(nameOf).join('\n')
      const known = takers.get(name)?.lines ?? 0
      takers.set(name, { part, lines: known + part.length })
    }
    return [...takers.values()].toSorted((one, next) => next.lines - one.lines).flatMap(({ part }) => part)
  })
}

/** Whether it is of the list of keys of a structure: each script has them in its own way. */
function isOfKeys({ file }: PlacedLine): boolean {
  return /^[^/]+\/[^/]+\/keys\.lua$/.test(file)
}
