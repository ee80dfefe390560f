// Scripts in the compiler's output: the text of each Lua file is stored once, however many scripts use parts of it. A
// script is assembled when it is first sent.

import type { Script } from '../../driver.ts'

/** The origin of a run of lines in a script: its first line in the script, the file, its first line in the file. */
export type LineRun = readonly [sent: number, file: string, line: number]

/** The lines of one Lua file that scripts use. */
export interface LuaText {
  /** Without `.lua`. */
  readonly file: string
  /** The line numbers of these lines, in pairs: the distance from the previous run, and the length of the run. */
  readonly taken: readonly number[]
  readonly text: string
}

/** Lines that assign keys, by their numbers in KEYS: keys with locals, and keys in the table `K`. */
export interface KeyLines {
  readonly locals?: readonly number[]
  readonly table?: readonly number[]
}

/**
 * A text followed by pairs of its lines: the first, from 0, and the number of lines. Then the next text, or lines of
 * keys.
 */
export type TextPieces = readonly (LuaText | KeyLines | number)[]

/** A script whose errors refer to its source files. */
export interface LinkedScript extends Script {
  readonly lines: readonly LineRun[]
}

interface Piece {
  readonly text: string
  /** The origin of each of its lines, counted from 0. */
  readonly places: readonly LineRun[]
}

/** The key parts with these numbers, of all parts of a structure. */
export function pick(parts: readonly string[], numbers: readonly number[]): readonly string[] {
  return numbers.map((number) => parts[number] ?? '')
}

/** `sha1` is that of the assembled text; `parts` has the last part of each key. */
export function linked(
  name: string,
  sha1: string,
  { reads = false, bytes = false }: Partial<Pick<Script, 'reads' | 'bytes'>>,
  parts: readonly string[],
  pieces: TextPieces,
): LinkedScript {
  let source: string | undefined
  const joined = (): Piece[] => piecesOf(name, parts, pieces)
  return {
    name,
    sha1,
    reads,
    bytes,
    get source() {
      source ??= joined()
        .map(({ text }) => text)
        .join('\n')
      return source
    },
    get lines() {
      let sent = 1
      return joined().flatMap(({ text, places }) => {
        const first = sent
        sent += text.split('\n').length
        return places.map(([at, file, line]): LineRun => [first + at, file, line])
      })
    },
  }
}

function piecesOf(name: string, parts: readonly string[], pieces: TextPieces): Piece[] {
  const locals = pieces.flatMap((piece) => (isKeyLines(piece) ? (piece.locals ?? []) : []))
  const found: Piece[] = []
  let of: LuaText | undefined
  for (let at = 0; at < pieces.length; at++) {
    const piece = pieces[at]
    if (typeof piece === 'number') found.push(pieceOf(of as LuaText, piece, pieces[++at] as number))
    else if (isKeyLines(piece)) found.push(pieceOfKeys(name, keyLines(piece, locals, parts)))
    else of = piece
  }
  return found
}

function isKeyLines(piece: TextPieces[number] | undefined): piece is KeyLines {
  return typeof piece === 'object' && !('text' in piece)
}

const split = new WeakMap<LuaText, readonly string[]>()

function pieceOf(of: LuaText, from: number, count: number): Piece {
  const lines = split.get(of) ?? of.text.split('\n')
  split.set(of, lines)
  const places = runsIn(of).flatMap(({ at, line, length }): LineRun[] => {
    const [first, end] = [Math.max(at, from), Math.min(at + length, from + count)]
    return first < end ? [[first - from, `${of.file}.lua`, line + first - at]] : []
  })
  return { text: lines.slice(from, from + count).join('\n'), places }
}

/** Errors in these lines refer to the list of keys as a whole. */
function pieceOfKeys(name: string, lines: readonly string[]): Piece {
  const file = `lua/${name.replace(/\/.*/, '')}/keys.lua`
  return { text: lines.join('\n'), places: lines.map((_, at): LineRun => [at, file, 1]) }
}

/** The names of locals as the compiler chooses them; the table is called `K`. */
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJLMNOPQRSTUVWXYZ'

function keyLines(
  { locals = [], table }: KeyLines,
  all: readonly number[],
  parts: readonly string[],
): string[] {
  const letterOf = (key: number): string => LETTERS.charAt(all.indexOf(key))
  const declared = locals.map((key) => `local ${letterOf(key)}=KEYS[${key}]`)
  const entries = table?.map((key) => {
    const name = parts[key - 1]?.replaceAll('-', '_')
    return `${name}=${letterOf(key) || `KEYS[${key}]`},`
  })
  return entries === undefined ? declared : [...declared, 'local K={', ...entries, '}']
}

/** The runs of consecutive lines of a text in its file. */
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
