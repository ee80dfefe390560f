// A mutant: one place of the source, made wrong.

import { createHash } from 'node:crypto'

/** How a place is made wrong. */
export type Kind = 'comparison' | 'condition' | 'arithmetic' | 'constant' | 'line' | 'mend'

/** A place in a file and what would stand there instead, by offsets. */
export interface Change {
  readonly kind: Kind
  readonly from: number
  readonly to: number
  readonly after: string
}

export interface Mutant {
  readonly kind: Kind
  readonly file: string
  /** The folder that it belongs to: a structure, `shared`, `runtime` … */
  readonly stratum: string
  readonly line: number
  readonly column: number
  /** The whole present line, trimmed. */
  readonly source: string
  readonly from: number
  readonly to: number
  readonly before: string
  readonly after: string
  /** Which of those that would read alike, counted from 1 through the file. */
  readonly nth: number
}

/** The mutants of a file; each change of its text is one. */
export function mutantsOf(file: string, text: string, changes: readonly Change[]): Mutant[] {
  const seen = new Map<string, number>()
  return changes
    .toSorted((left, right) => left.from - right.from || left.to - right.to)
    .map((change) => {
      const mutant = { ...change, ...placeOf(file, text, change), nth: 1 }
      const nth = (seen.get(nameOf(mutant)) ?? 0) + 1
      seen.set(nameOf(mutant), nth)
      return { ...mutant, nth }
    })
}

/** Names a mutant for as long as its line reads as it does, wherever in the file it moves. */
export function nameOf({ file, source, before, after, nth }: Mutant): string {
  return `${file} | ${source} | ${changeOf({ before, after })}${nth === 1 ? '' : ` | ${nth}`}`
}

/** The change as a reader takes it in: `< → >=`, or `dropped: …`. */
export function changeOf({ before, after }: Pick<Mutant, 'before' | 'after'>): string {
  const short = before.replaceAll(/\s+/g, ' ').trim()
  return /^[;\s]*$/.test(after) ? `dropped: ${short}` : `${short} → ${after}`
}

/** `src/lock/lock.ts:96:7`. */
export function whereIs({ file, line, column }: Mutant): string {
  return `${file}:${line}:${column}`
}

/** The file's text with the mutant in it. */
export function applied(text: string, { from, to, after }: Mutant): string {
  return text.slice(0, from) + after + text.slice(to)
}

/** A mutant's turn in the draw of a seed. It depends on nothing but its own text. */
export function turnOf(mutant: Mutant, seed: number): string {
  return createHash('sha256')
    .update(`${seed}\n${nameOf(mutant)}`)
    .digest('hex')
}

/** `src/lock/lock.ts` and `lua/shared/lock/state.lua` belong to `lock`, `src/index.ts` to the facade. */
function stratumOf(file: string): string {
  const [language = '', folder = '', below = ''] = file.split('/')
  if (!file.slice(language.length + 1).includes('/')) return 'facade'
  return folder === 'shared' && !below.includes('.') ? below : folder
}

/** Nothing but the line breaks of what is dropped: the lines behind it keep their numbers. */
export function blankOf(text: string): string {
  return text.replaceAll(/[^\n]/g, '')
}

/** A constant that is wrong: small ones by one, greater ones by half. */
export function otherNumber(raw: string): string | null {
  const value = Number(raw.replaceAll('_', ''))
  if (!Number.isFinite(value)) return null
  return String(value < 10 ? value + 1 : Math.floor(value / 2))
}

function placeOf(file: string, text: string, { from, to }: Change): Omit<Mutant, keyof Change | 'nth'> {
  const start = text.lastIndexOf('\n', from - 1) + 1
  const end = text.indexOf('\n', from)
  return {
    file,
    stratum: stratumOf(file),
    line: text.slice(0, from).split('\n').length,
    column: from - start + 1,
    source: text.slice(start, end === -1 ? text.length : end).trim(),
    before: text.slice(from, to),
  }
}
