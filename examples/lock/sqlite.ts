// A database in a file, through the command line program sqlite3: enough for an example.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

type Row = Record<string, number | string | null>

export class Database implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'perilune-example-'))

  /** Runs one statement with named numbers in it; resolves to its rows. */
  query(sql: string, numbers: Record<string, number> = {}): Row[] {
    const lines = Object.entries(numbers).map(([name, value]) => `.parameter set $${name} ${value}`)
    const input = ['.parameter init', ...lines, `${sql};`].join('\n')
    const file = join(this.#folder, 'example.db')
    const out = execFileSync('sqlite3', ['-bail', '-json', file], { input, encoding: 'utf8' })
    return out.trim() === '' ? [] : (JSON.parse(out) as Row[])
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true })
  }
}
