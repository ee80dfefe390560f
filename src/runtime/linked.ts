// Scripts as the compiler writes them down: the text of each file of Lua stands once, however many scripts have some of it, and a
// script is joined when it is first sent.

import type { Script } from '../driver.ts'

/** Where a run of lines of a script comes from: its first line there, the file, the first line in that. */
export type LineRun = readonly [sent: number, file: string, line: number]

/** What is sent of one file of Lua: its lines without comments, indentation and empty ones. */
export interface LuaText {
  readonly file: string
  /** Which lines of the file these are, in pairs: so many are passed over, so many taken. */
  readonly taken: readonly number[]
  readonly text: string
}

/** In threes: a text, the first of its lines, from 0, and how many. */
export type Pieces = readonly (LuaText | number)[]

interface Piece {
  readonly of: LuaText
  readonly from: number
  readonly count: number
}

/** A script whose errors lead to the files that it is made of. */
export interface LinkedScript extends Script {
  readonly lines: readonly LineRun[]
}

/** `sha1` is that of the joined text. */
export function linked(
  name: string,
  sha1: string,
  traits: Pick<Script, 'reads' | 'bytes'>,
  pieces: Pieces,
): LinkedScript {
  let source: string | undefined
  return {
    name,
    sha1,
    ...traits,
    get source() {
      source ??= piecesOf(pieces).map(textOf).join('\n')
      return source
    },
    get lines() {
      return linesOf(piecesOf(pieces))
    },
  }
}

function piecesOf(pieces: Pieces): Piece[] {
  const found: Piece[] = []
  for (let at = 0; at < pieces.length; at += 3)
    found.push({ of: pieces[at] as LuaText, from: pieces[at + 1] as number, count: pieces[at + 2] as number })
  return found
}

const split = new WeakMap<LuaText, readonly string[]>()

function textOf({ of, from, count }: Piece): string {
  const lines = split.get(of) ?? of.text.split('\n')
  split.set(of, lines)
  return lines.slice(from, from + count).join('\n')
}

function linesOf(pieces: readonly Piece[]): LineRun[] {
  const runs: LineRun[] = []
  let sent = 1
  for (const { of, from, count } of pieces) {
    for (const { at, line, length } of runsIn(of)) {
      const [first, end] = [Math.max(at, from), Math.min(at + length, from + count)]
      if (first < end) runs.push([sent + first - from, of.file, line + first - at])
    }
    sent += count
  }
  return runs
}

/** The lines of a text that follow each other in its file. */
function runsIn({ taken }: LuaText): { at: number; line: number; length: number }[] {
  const runs: { at: number; line: number; length: number }[] = []
  let [at, line] = [0, 1]
  for (let pair = 0; pair < taken.length; pair += 2) {
    const length = taken[pair + 1] ?? 0
    line += taken[pair] ?? 0
    runs.push({ at, line, length })
    at += length
    line += length
  }
  return runs
}
