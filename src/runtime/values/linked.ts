// Scripts as the compiler writes them down: the text of each file of Lua stands once, however many scripts have some of it, and a
// script is joined when it is first sent.

import type { Script } from '../../driver.ts'

/** Where a run of lines of a script comes from: its first line there, the file, the first line in that. */
export type LineRun = readonly [sent: number, file: string, line: number]

/** What is sent of one file of Lua, in lines. */
export interface LuaText {
  /** Without `.lua`. */
  readonly file: string
  /** Which lines of the file these are, in pairs: how far behind the last one the next is, and how many follow each other. */
  readonly taken: readonly number[]
  readonly text: string
}

/** Lines that say which keys are which, by their numbers in KEYS: those that have locals, and those in the table `K`. */
export interface KeyLines {
  readonly locals?: readonly number[]
  readonly table?: readonly number[]
}

/** A text, and in pairs which of its lines: the first, from 0, and how many. Then the next text, or lines of keys. */
export type TextPieces = readonly (LuaText | KeyLines | number)[]

/** A script whose errors lead to the files that it is made of. */
export interface LinkedScript extends Script {
  readonly lines: readonly LineRun[]
}

interface Piece {
  readonly text: string
  /** Where each of its lines comes from, counted from its first one, which is 0. */
  readonly places: readonly LineRun[]
}

/** The parts of keys with these numbers, of all that a structure has. */
export function pick(parts: readonly string[], numbers: readonly number[]): readonly string[] {
  return numbers.map((number) => parts[number] ?? '')
}

/** `sha1` is that of the joined text, `parts` has the last part of each key. */
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

/** They lead to the list of keys as a whole. */
function pieceOfKeys(name: string, lines: readonly string[]): Piece {
  const file = `lua/${name.replace(/\/.*/, '')}/keys.lua`
  return { text: lines.join('\n'), places: lines.map((_, at): LineRun => [at, file, 1]) }
}

/** As the compiler names locals; the table has `K`. */
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
