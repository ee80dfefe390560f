// An operation of which a test says the body, and the text of it that Redis is sent.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { compileTree } from '../../tools/contract/compile.ts'
import { locate } from '../../tools/contract/locate.ts'

const HEAD = `--[[
Sets the gauge,
which shows one value.

@returns set  value:text
@cost    O(1)
]]
local value = ARGV[1] -- text: what it shows

`
export const ANSWER = `redis.call('SET', keys.state, value)\nreturn { 'set', value }\n`

/** The lines that are sent of an operation after its declarations, each with its line in the source. */
export function sent(body: string, fragment = ''): [line: number, text: string][] {
  const root = join(mkdtempSync(join(tmpdir(), 'perilune-sent-')), 'redis')
  onTestFinished(() => rmSync(join(root, '..'), { recursive: true }))
  mkdirSync(join(root, 'gauge'), { recursive: true })
  mkdirSync(join(root, 'shared'))
  writeFileSync(join(root, 'gauge/keys.lua'), "return {\n  state = 'string', -- the gauge\n}\n")
  writeFileSync(join(root, 'gauge/set.lua'), `${HEAD}${body}`)
  writeFileSync(join(root, 'shared/odd.lua'), fragment)
  const { operations } = compileTree(root, undefined, undefined, { form: 'readable' })
  const operation = operations['gauge/set']
  const text = operation?.source.split('\n') ?? []
  const lines = text.map((line, at): [number, string] => [locate(operation?.lines ?? [], at + 1).line, line])
  return lines.slice(2)
}

export function texts(lines: readonly [line: number, text: string][]): string[] {
  return lines.map(([, text]) => text)
}
