// The size of the modules that programs load of the built package, and of its scripts in Redis: docs/sizes.md.

import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { connect } from 'perilune/connection'
import { ioredis } from 'perilune/ioredis'
import { queueScripts } from 'perilune/queue'
import { beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import contract from '../lua/contract.json' with { type: 'json' }
import { INTERNAL } from '../tools/docs/completeness.ts'
import { type Bundle, bundles, packageSize, type Size } from '../tools/sizes/measure.ts'
import { PROGRAMS } from '../tools/sizes/programs.ts'
import { overLimit, sizesIn, withSizes } from '../tools/sizes/table.ts'
import { startRedis } from './servers/redis.ts'

const ROOT = join(import.meta.dirname, '..')
const PAGE = readFileSync(join(ROOT, 'docs/sizes.md'), 'utf8')
/** So much may differ until the table is written again. */
const MARGIN = 0.02
/** The sizes that docs/sizes.md explains. One that is no longer over its limit leaves this list. */
const STILL_OVER = ['lock']
const MOST_IN_REDIS = 2_000_000

const run = promisify(execFile)
const built = new Map<string, Bundle>()

beforeAll(async () => {
  for (const bundle of await bundles(ROOT)) built.set(bundle.name, bundle)
})

function differs(one: number, other: number): boolean {
  return Math.abs(one - other) > other * MARGIN
}

test('the table in docs/sizes.md matches the measured sizes within two per cent', () => {
  const table = new Map(sizesIn(PAGE).map((size) => [size.name, size]))
  const measured: Size[] = [...built.values(), packageSize(ROOT)]

  expect([...table.keys()]).toEqual(measured.map(({ name }) => name))
  const other = measured.filter(({ name, minified, gzip }) => {
    const { minified: bytes, gzip: packed } = table.get(name) ?? { minified: 0, gzip: 0 }
    return differs(minified, bytes) || differs(gzip, packed)
  })
  expect(
    other.map(({ name, minified, gzip }) => ({ name, minified, gzip })),
    'if this is meant: npm run build && npx tsx tools/sizes.ts',
  ).toEqual([])
})

test('no size is over its limit except those that docs/sizes.md explains', () => {
  expect(overLimit([...built.values(), packageSize(ROOT)])).toEqual(STILL_OVER)
})

test.each(PROGRAMS.map(({ name }) => name))('the bundle for %s runs', async (name) => {
  const folder = mkdtempSync(join(tmpdir(), 'perilune-sizes-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'program.mjs'), built.get(name)?.text ?? '')

  // An error shows the line that threw, which is most of the bundle.
  const said = await run(process.execPath, [join(folder, 'program.mjs'), String(inject('redisPort'))]).then(
    ({ stdout }) => stdout,
    (error: { stderr: string }) => error.stderr.slice(-2000),
  )

  expect(said).toBe('ok\n')
})

test('a bundle has scripts of its structure only', () => {
  const structures = Object.keys(contract.structures)
  const foreign = [...built.values()].flatMap(({ name, text }) => {
    if (name === 'perilune') return []
    const own = structures.find((one) => one === name.split(',')[0])
    const files = text.match(/lua\/(?:shared\/)?[\w-]+\//g) ?? []
    expect(files.length > 0, `${name} has scripts`).toBe(own !== undefined)
    const others = structures.filter((one) => one !== own)
    return files
      .filter((file) => others.some((one) => file.endsWith(`/${one}/`)))
      .map((file) => `${name}: ${file}`)
  })
  expect(foreign).toEqual([])
})

test('every public structure has a program', () => {
  const structures = Object.keys(contract.structures).filter((structure) => !INTERNAL.has(structure))
  expect(PROGRAMS.map(({ name }) => name)).toEqual(expect.arrayContaining(structures))
})

test('the written sizes are the ones that are read', () => {
  const sizes = [
    { name: 'lock', minified: 61_234, gzip: 20_001 },
    { name: 'other', minified: 999, gzip: 1 },
  ]

  const page = withSizes('before\n<!-- sizes -->\n| old |\n<!-- /sizes -->\nafter\n', sizes)

  expect(page).toContain('| lock | 61,234 | 20,001 | 60,000: over by 1,234 |')
  expect(sizesIn(page)).toEqual(sizes)
  expect(overLimit(sizes)).toEqual(['lock'])
  expect(page).toMatch(/^before\n[^]*\nafter\n$/)
  expect(page).not.toContain('old')
})

test('Redis keeps at most 2 MB for all scripts of the queue', async () => {
  const server = await startRedis()
  const client = new Redis(server.port)
  const connection = connect(ioredis(client))
  onTestFinished(async () => {
    await connection.close()
    client.disconnect()
    await server.stop()
  })
  const memory = async (): Promise<Record<string, number>> => {
    const text = await client.info('memory')
    const fields = text.matchAll(/^(used_memory|used_memory_scripts|used_memory_scripts_eval):(\d+)/gm)
    return Object.fromEntries([...fields].map(([, name, bytes]) => [name, Number(bytes)]))
  }
  const before = await memory()

  await connection.preload([queueScripts])

  const after = await memory()
  const scripts = after['used_memory_scripts'] ?? 0
  // Redis 6.2 does not count scripts separately.
  if (after['used_memory_scripts'] !== undefined) {
    const texts = queueScripts.scripts().reduce((sum, { source }) => sum + source.length, 0)
    expect(scripts).toBeGreaterThan(texts)
    expect(scripts).toBeLessThan(MOST_IN_REDIS)
  }
  expect((after['used_memory'] ?? 0) - (before['used_memory'] ?? 0)).toBeLessThan(MOST_IN_REDIS)
})
