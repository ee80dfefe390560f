import type { LineRun } from './contract.ts'
import { layoutOf } from './layout.ts'
import type { Problem } from './problem.ts'

/** A script with its fragments spliced in. */
export interface Built {
  readonly source: string
  readonly lines: readonly LineRun[]
  /** The fragments, by their files, each with the first line that names it. */
  readonly includes: readonly Include[]
  readonly problems: readonly Problem[]
}

interface Place {
  readonly file: string
  readonly line: number
}

interface Include {
  readonly fragment: string
  readonly at: Place
}

/** Text and display name of a fragment, or null when there is no such file. */
export type ReadFragment = (name: string) => { readonly file: string; readonly text: string } | null

const MEANT = /^\s*--\s*@include\b/
const INCLUDE = /^\s*-- @include\s+(\S+)\s*$/

/** Splices every fragment where it is first named, and again where it is not known: behind the block that has it. */
export function splice(file: string, text: string, read: ReadFragment): Built {
  const splicer = new Splicer(read)
  splicer.add(file, text, [])
  const { out, lines, includes, problems } = splicer
  return { source: `${out.join('\n')}\n`, lines, includes, problems }
}

/** The source file and line that a line of the built script comes from. */
export function locate(lines: readonly LineRun[], built: number): Place {
  const run = lines.findLast(([first]) => first <= built) ?? lines[0]
  if (!run) throw new RangeError('a line map has at least one run')
  return { file: run[1], line: run[2] + built - run[0] }
}

/** The lines of a file without the line break that ends it. */
export function linesOf(text: string): string[] {
  return text.replace(/\r?\n$/, '').split(/\r?\n/)
}

const UNREADABLE = 'an include is a line of its own: -- @include shared/name'

interface Scope {
  /** The file that it is in, as often as that is spliced in. */
  readonly reading: object
  /** Its last line there. */
  readonly end: number
}

class Splicer {
  readonly out: string[] = []
  readonly lines: LineRun[] = []
  readonly includes: Include[] = []
  readonly problems: Problem[] = []
  readonly #read: ReadFragment
  /** The blocks with fragments in them that are open here, each in the one before. */
  readonly #scopes: Scope[] = []
  /** The fragments that are known here, and in how many blocks. */
  readonly #known = new Map<string, number>()

  constructor(read: ReadFragment) {
    this.#read = read
  }

  add(file: string, text: string, open: readonly string[]): void {
    const reading = layoutOf(text)
    let startsRun = true
    for (const [index, line] of linesOf(text).entries()) {
      const at = { file, line: index + 1 }
      this.#leave(reading, at.line)
      const isCode = !reading.isWithinToken(at.line)
      const name = isCode ? INCLUDE.exec(line)?.[1] : undefined
      if (name === undefined) {
        if (isCode && MEANT.test(line)) this.#refuse(at, UNREADABLE)
        if (startsRun) this.lines.push([this.out.length + 1, file, at.line])
        this.out.push(line)
        startsRun = false
      } else {
        this.#enter(reading, reading.blockEnd(at.line))
        this.#include(name, at, open)
        startsRun = true
      }
    }
    this.#leave(reading, Infinity)
  }

  #enter(reading: object, end: number): void {
    const inner = this.#scopes.at(-1)
    const isOpen = inner?.reading === reading && inner.end === end
    if (end !== Infinity && !isOpen) this.#scopes.push({ reading, end })
  }

  #leave(reading: object, line: number): void {
    for (;;) {
      const inner = this.#scopes.at(-1)
      if (inner === undefined || inner.reading !== reading || inner.end >= line) return
      this.#scopes.pop()
      for (const [name, depth] of this.#known) if (depth > this.#scopes.length) this.#known.delete(name)
    }
  }

  #include(name: string, at: Place, open: readonly string[]): void {
    if (open.includes(name))
      return this.#refuse(at, `includes go in a circle: ${[...open, name].join(' → ')}`)
    if (this.#known.has(name)) return
    this.#known.set(name, this.#scopes.length)
    const fragment = this.#read(name)
    if (!fragment) return this.#refuse(at, `there is no fragment ${name}`)
    this.includes.push({ fragment: fragment.file, at })
    this.add(fragment.file, fragment.text, [...open, name])
  }

  #refuse(at: Place, message: string): void {
    this.problems.push({ ...at, message })
  }
}
