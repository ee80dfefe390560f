// The lists of `file:function` in ARCHITECTURE.md: the named functions exist, and no path is longer than stated.

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { textOf } from '../tools/measure/source-files.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

interface Step {
  readonly file: string
  readonly name: string
}

interface CallPath {
  /** The heading above it. */
  readonly title: string
  /** The text between them. */
  readonly text: string
  readonly steps: readonly Step[]
}

const STEP = /^\d+\. `(?<file>(?:src|server|lua)\/[^`:]+):(?<name>#?\w+)`/
const LIMITS =
  /[Aa]t most (?<functions>\d+) functions in (?<files>\d+) files, and (?<returns>\d+) returns? to a file/

/** A path from the root, without the parts that a reader fills in. */
const NAMED = /`((?:bench|bindings|docs|examples|lua|server|src|test|tools)\/[\w./-]*)(?::#?\w+)?`/g

const paths: CallPath[] = textOf(ROOT, 'ARCHITECTURE.md')
  .split(/^## /m)
  .map((section) => {
    const [title = '', ...lines] = section.split('\n')
    const steps = lines.flatMap((line) => {
      const { file, name } = STEP.exec(line)?.groups ?? {}
      return file === undefined || name === undefined ? [] : [{ file, name }]
    })
    return { title, text: lines.join('\n'), steps }
  })
  .filter(({ steps }) => steps.length > 0)

/** Whether a file has a function or a method of this name. */
function defines(text: string, name: string): boolean {
  const functions = String.raw`^ *(?:(?:export|async|local) )*function\*? ${name}(?:<.*>)?\(`
  const methods = String.raw`^ *(?:(?:static|override|async|get) )*${name}(?:<.*>)?\(.*[{(]$`
  return new RegExp(`${functions}|${methods}`, 'm').test(text)
}

/** How often a path comes back to a file that it has left. */
function returnsOf(steps: readonly Step[]): number {
  const visits = steps.filter(({ file }, at) => file !== steps[at - 1]?.file)
  return visits.length - new Set(visits.map(({ file }) => file)).size
}

test('there are paths to check', () => {
  expect(paths.map(({ title }) => title)).toContain('The path of one key')
})

test('every file and folder that ARCHITECTURE.md names exists', () => {
  const text = textOf(ROOT, 'ARCHITECTURE.md')
  const named = [...text.matchAll(NAMED)].map(([, path = '']) => path)

  expect(named.length).toBeGreaterThan(80)
  expect(named.filter((path) => !existsSync(`${ROOT}/${path}`))).toEqual([])
})

test.each(paths)('$title: each function is in its file', ({ steps }) => {
  const missing = steps.filter(
    ({ file, name }) => !existsSync(`${ROOT}/${file}`) || !defines(textOf(ROOT, file), name),
  )
  expect(missing).toEqual([])
})

test.each(paths)('$title: it is no longer than declared', ({ text, steps }) => {
  const { functions, files, returns } = LIMITS.exec(text)?.groups ?? {}
  expect([functions, files, returns]).not.toContain(undefined)
  expect(steps.length).toBeLessThanOrEqual(Number(functions))
  expect(new Set(steps.map(({ file }) => file)).size).toBeLessThanOrEqual(Number(files))
  expect(returnsOf(steps)).toBeLessThanOrEqual(Number(returns))
})

test.each([
  ['async get(key: string): Promise<void> {', 'get', true],
  ['  #elect(tags: Buffer): void {', '#elect', true],
  ['export async function look<Value>(', 'look', true],
  ['local function ack_job(keys)', 'ack_job', true],
  ['  get #size(): number {', '#size', true],
  ['  return this.look(', 'look', false],
  ['    await look(', 'look', false],
  ['  look(source)', 'look', false],
])('whether %s defines %s is known', (text, name, isThere) => {
  expect(defines(text, name)).toBe(isThere)
})
