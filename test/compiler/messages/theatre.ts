// A small folder of a user that is right, and what `perilune generate` says of it when something in it is changed.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { CommandError } from '../../../tools/command/error.ts'
import { generate } from '../../../tools/command/generate.ts'

export const KEYS = 'redis/theatre/keys.lua'
export const HOLD = 'redis/theatre/hold.lua'
export const SEATS = 'redis/shared/seats.lua'

const FILES: Readonly<Record<string, string>> = {
  [KEYS]: `return {
  seats = 'hash', -- seat -> who has it
  waiting = 'list', -- those who wait
}
`,
  [HOLD]: `--[[
Gives a seat to one person.

@returns held  seats:integer
@returns taken
@cost    O(1)
]]
local seat = ARGV[1] -- text: the seat
local person = ARGV[2] -- text: who wants it

if redis.call('HSETNX', keys.seats, seat, person) == 0 then
  return { 'taken' }
end
return { 'held', seats_of(keys.seats) }
`,
  [SEATS]: `local function seats_of(seats)
  return redis.call('HLEN', seats)
end
`,
}

/** For each file its text, or a replacement of a part of it; null: the file does not exist. */
export type Change = Readonly<
  Record<string, string | Uint8Array | readonly [from: string, to: string] | null>
>

export interface Mistake {
  readonly mistake: string
  readonly change: Change
  /** All that is said, in the order in which it is said. */
  readonly says: readonly string[]
}

const LIBRARY = join(import.meta.dirname, '../../../lua')

export function saidOf(change: Change): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'perilune-mistake-'))
  try {
    for (const [path, text] of Object.entries(changed(change))) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    generate({ folder: join(folder, 'redis'), out: join(folder, 'redis.ts'), check: false, library: LIBRARY })
    return []
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return error.message.replaceAll(`${folder}/`, '').split('\n')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function changed(change: Change): Record<string, string | Uint8Array> {
  const files: Record<string, string | Uint8Array> = { ...FILES }
  for (const [path, part] of Object.entries(change)) {
    if (part === null) delete files[path]
    else files[path] = Array.isArray(part) ? replaced(path, part[0], part[1]) : (part as string | Uint8Array)
  }
  return files
}

function replaced(path: string, from: string, to: string): string {
  const text = FILES[path] ?? ''
  if (!text.includes(from)) throw new Error(`${path} does not have: ${from}`)
  return text.replace(from, () => to)
}

/** `hold.lua` with lines before its first command. */
export function before(lines: string): Change {
  return { [HOLD]: ['if redis', `${lines}\nif redis`] }
}

/** Another operation, which only reads. */
export const LOOK = 'redis/theatre/look.lua'

export function looking(body: string): string {
  return `--[[\nLooks.\n\n@returns seen\n@reads\n@cost    O(1)\n]]\n${body}`
}
