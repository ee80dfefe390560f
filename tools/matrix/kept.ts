// What the last run of each cell came to, in a file, so that a matrix may run in parts.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Outcome } from './cell.ts'

export interface Cell extends Outcome {
  readonly server: string
  readonly suite: string
  readonly version: string
  /** Packages that were others than those of the table. */
  readonly moved: readonly string[]
  readonly rows: string
  readonly commit: string
  readonly date: string
}

/** A server that could not be had. */
export interface Missing {
  readonly server: string
  readonly reason: string
}

export interface Results {
  readonly cells: readonly Cell[]
  readonly missing: readonly Missing[]
}

export class Kept {
  readonly #file: string

  constructor(file: string) {
    this.#file = file
  }

  /** Read each time: another run may have added to them. */
  get results(): Results {
    if (!existsSync(this.#file)) return { cells: [], missing: [] }
    const results: Results = JSON.parse(readFileSync(this.#file, 'utf8'))
    return results
  }

  /** In the place of an earlier run of the same cell. */
  add(cell: Cell): void {
    const { cells, missing } = this.results
    const others = cells.filter(({ server, suite }) => server !== cell.server || suite !== cell.suite)
    this.#write({
      cells: [...others, cell],
      missing: missing.filter(({ server }) => server !== cell.server),
    })
  }

  /** Earlier runs say nothing any more about a server that cannot be had. */
  miss(missing: Missing): void {
    const isOther = ({ server }: { readonly server: string }): boolean => server !== missing.server
    const { cells, missing: others } = this.results
    this.#write({ cells: cells.filter(isOther), missing: [...others.filter(isOther), missing] })
  }

  #write(results: Results): void {
    mkdirSync(dirname(this.#file), { recursive: true })
    writeFileSync(this.#file, `${JSON.stringify(results, null, 2)}\n`)
  }
}
