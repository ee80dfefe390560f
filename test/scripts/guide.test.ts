// The statements of docs/guides/your-own-scripts.md and docs/guides/write-your-own-script.md are true.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { CommandError } from '../../tools/command/error.ts'
import { generate } from '../../tools/command/generate.ts'
import { blocksOf, textOf } from '../../tools/docs/pages.ts'

const ROOT = join(import.meta.dirname, '../..')
const GUIDE = textOf(ROOT, 'docs/guides/your-own-scripts.md')
const STEPS = blocksOf(textOf(ROOT, 'docs/guides/write-your-own-script.md'))
const blocks = blocksOf(GUIDE)
const [guildKeys = '', complete = '', visitsKeys = '', count = '', gameKeys = '', record = ''] = blocks
  .filter(({ info }) => info === 'lua')
  .map(({ text }) => text)
const [answers = '', twice = ''] = blocks.filter(({ info }) => info === 'text').map(({ text }) => text)

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perilune-guide-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
})

/** The module of these operations, or what is wrong with them. */
function compiled(files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, 'redis', path, '..'), { recursive: true })
    writeFileSync(join(folder, 'redis', path), text)
  }
  const out = join(folder, 'redis.ts')
  try {
    generate({ folder: join(folder, 'redis'), out, check: false, library: join(ROOT, 'lua') })
  } catch (error) {
    if (error instanceof CommandError) return error.message.replaceAll(`${folder}/`, '')
    throw error
  }
  return readFileSync(out, 'utf8')
}

test('its operations compile', () => {
  const module = compiled({
    'guild/keys.lua': guildKeys,
    'guild/complete.lua': complete,
    'visits/keys.lua': visitsKeys,
    'game/keys.lua': gameKeys,
    'visits/count.lua': count,
    'game/record.lua': record,
  })

  expect(module).toContain('complete(args: GuildCompleteArguments): Promise<GuildCompleteAnswer>')
  expect(module).toContain('this.#unit.runOnce<VisitsCountArguments, VisitsCountAnswer>')
  expect(module).toContain('readonly times?: number')
  expect(module).toContain('* Safe to repeat: a turn is written down with its token, and each token once.')
})

// The second operation of the page, as one would write it first.
const UNREMEMBERED = `--[[
Counts visits.

@returns counted  total:integer
@cost    O(1)
]]
local times = tonumber(ARGV[1] or 1) -- integer: how many
return { 'counted', redis.call('HINCRBY', keys.state, 'total', times) }
`

test('the compiler reports what the page says', () => {
  expect(
    compiled({ 'guild/keys.lua': guildKeys, 'guild/complete.lua': complete.replace("'found'", "'fonud'") }),
  ).toBe(answers.trim())
})

test('the compiler reports what the page says about a script that counts', () => {
  expect(compiled({ 'visits/keys.lua': visitsKeys, 'visits/count.lua': UNREMEMBERED })).toBe(twice.trim())
})

test('the compiler rejects the first script of the five steps as they say', () => {
  const [keys = '', first = ''] = STEPS.filter(({ info }) => info === 'lua').map(({ text }) => text)
  const said = STEPS.find(({ info }) => info === 'text')?.text.trim()

  expect(compiled({ 'seats/keys.lua': keys, 'seats/hold.lua': first })).toBe(said)
})

// Each function of the page's table, as a script can use it.
const SEEN = "return {\n  seen = 'hash', -- what was seen\n}\n"
const USES: Readonly<Record<string, string>> = {
  clock_us: 'clock_us()',
  exact: 'exact(5)',
  exact_range: 'exact_range(5, 6)',
  next_token: 'next_token(5, 6)',
  recall: "try(recall(false, { caller = '', call = '5' }))",
  drop_over: 'drop_over(keys.seen, 4, tonumber)',
}

test('the general functions are available by name, alone and together', () => {
  const listed = [...GUIDE.matchAll(/^\| `([a-z_]+)\(/gm)].map(([, name]) => name)
  expect(listed).toEqual(Object.keys(USES))

  for (const use of Object.values(USES)) {
    expect(compiled({ 'demo/keys.lua': SEEN, 'demo/look.lua': operation([use]) })).toContain('class Demo')
  }
  const together = compiled({ 'demo/keys.lua': SEEN, 'demo/look.lua': operation(Object.values(USES)) })
  expect(together.split('local function exact(')).toHaveLength(2)
})

function operation(uses: readonly string[]): string {
  return `--[[
Looks.

@returns seen
@cost    O(1)
]]

${uses.map((use, at) => `local use_${at + 1} = ${use}\n`).join('')}redis.call('HSET', keys.seen, 'all', tostring(${uses.map((_, at) => `use_${at + 1}`).join(' == ')}))
return { 'seen' }
`
}
