// Every message of the compiler, with a mistake that causes it.

import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { commandOf } from '../../programs/fork.ts'
import { ANSWERS } from './answers.ts'
import { ARGUMENTS } from './arguments.ts'
import { SLIPS } from './command.ts'
import { COMMANDS } from './commands.ts'
import { DECLARATIONS } from './declarations.ts'
import { FILES } from './files.ts'
import { HEAD } from './head.ts'
import { KEY_LIST } from './key-list.ts'
import { KEYS } from './keys.ts'
import { LUA } from './lua.ts'
import { MODULES } from './modules.ts'
import { ROOM } from './room.ts'
import { SYNTAX } from './syntax.ts'
import { type Template, templatesIn } from './templates.ts'
import { before, saidOf } from './theatre.ts'

const ROOT = join(import.meta.dirname, '../../..')
const TABLES = {
  HEAD,
  DECLARATIONS,
  ARGUMENTS,
  KEY_LIST,
  KEYS,
  ANSWERS,
  COMMANDS,
  LUA,
  SYNTAX,
  MODULES,
  FILES,
  ROOM,
}

test('the unchanged folder is valid', () => {
  expect(saidOf({})).toEqual([])
})

test.each([
  "if redis.call('HGET', keys.seats, seat) == false then\n  return { 'taken' }\nend",
  "if redis.call('HGET', keys.seats, seat) == '1' then\n  return { 'taken' }\nend",
  "if tonumber(redis.call('HGET', keys.seats, seat)) == 1 then\n  return { 'taken' }\nend",
  'while true do\n  if #seat > 1 then\n    break\n  end\nend',
  "for at = 1, math.huge do\n  if at > #seat then\n    return { 'taken' }\n  end\nend",
  "redis.call('HSET', keys.seats, unpack({ seat, person }))",
  "local seats = redis.call('HLEN', keys.seats)\nredis.call('HSET', keys.seats, seat .. seats, seats + 1)",
  "local all = redis.call('LRANGE', keys.waiting, 0, 9)",
])('valid input is accepted: %s', (lines) => {
  expect(saidOf(before(lines))).toEqual([])
})

describe.each(Object.entries(TABLES))('%s', (_, mistakes) => {
  test.each(mistakes)('$mistake', ({ change, says }) => {
    expect(saidOf(change)).toEqual(says)
  })
})

test.each(SLIPS)('the command: $mistake', ({ args, says }) => {
  const folder = mkdtempSync(join(tmpdir(), 'perilune-slip-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  cpSync(join(ROOT, 'test/scripts/fixtures/redis'), join(folder, 'redis'), { recursive: true })
  for (const name of ['empty', 'taken.ts']) mkdirSync(join(folder, name))

  const command = commandOf(new URL('../../../tools/perilune.ts', import.meta.url))
  const { status, stderr } = spawnSync(process.execPath, [...command, ...args], {
    cwd: folder,
    encoding: 'utf8',
  })

  expect({ status, stderr }).toEqual({ status: 1, stderr: `${says}\n` })
})

describe('each message', () => {
  const shown = [
    ...Object.values(TABLES).flatMap((mistakes) => mistakes.flatMap(({ says }) => says)),
    ...SLIPS.map(({ says }) => says),
  ].map((line) => line.replace(/^\S+?\.(?:lua|LUA):\d+ |^redis\/theatre\/look at\.lua:\d+ /, ''))
  let templates: Template[]
  beforeAll(() => {
    templates = templatesIn(ROOT)
  }, 60_000)

  test('is caused by a mistake of these tables', () => {
    const whole = templates.filter(({ isWhole }) => isWhole)
    const caused = new Set(shown.flatMap((message) => closest(message, whole).map(({ text }) => text)))
    const parts = templates.filter(({ isWhole }) => !isWhole)
    const missing = [
      ...whole.filter(({ text }) => !caused.has(text)),
      ...parts.filter((part) => !shown.some((message) => patternOf(part).test(message))),
    ]

    expect(missing.map(({ place, text }) => `${place} ${text}`)).toEqual([])
  })

  test('that is shown is one of the sources', () => {
    expect(shown.filter((message) => closest(message, templates).length === 0)).toEqual([])
  })

  test('there are many of', () => {
    expect(templates.length).toBeGreaterThan(150)
  })
})

/** The templates that a message may come from: among them the most specific ones. */
function closest(message: string, templates: readonly Template[]): Template[] {
  const fitting = templates.filter((template) => template.isWhole && patternOf(template).test(message))
  const most = Math.max(...fitting.map(({ text }) => text.length))
  return fitting.filter(({ text }) => text.length === most)
}

function patternOf({ text, isWhole }: Template): RegExp {
  const pattern = text
    .split('\0')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.+')
  return new RegExp(isWhole ? `^${pattern}$` : pattern, 's')
}
