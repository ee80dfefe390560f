import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { writeModules } from '../../tools/docs/modules.ts'
import { type Snippet, snippetsIn, writeSnippet } from '../../tools/docs/snippets.ts'
import { startRedis } from '../servers/redis.ts'
import { buildBeside } from '../programs/build.ts'
import { ROOT, startNode } from './programs.ts'

let folder: string

// Inside the project, so that a snippet finds the library as a program of its users would.
beforeAll(() => {
  mkdirSync(join(ROOT, '.perilune'), { recursive: true })
  folder = mkdtempSync(join(ROOT, '.perilune', 'run-'))
  writeModules(ROOT, folder)
})
afterAll(() => rmSync(folder, { recursive: true }))

const runnable = snippetsIn(ROOT).filter(({ run }) => run)

test('the docs have snippets that run', () => {
  expect(runnable.map(({ page }) => page)).toEqual(
    expect.arrayContaining(['README.md', 'docs/structures/feed.md']),
  )
})

describe.each(runnable)('the snippet of $page, line $line', (snippet) => {
  test('runs to its end and prints what its comments say', async () => {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    const program = await buildBeside(join(folder, writeProgram(snippet)))

    const { code, out, errors } = await startNode([program], redis.url).ended()

    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    expect(out.trimEnd()).toBe(expectedOutput(snippet.text))
  })
})

test('the program of the README for node-redis outlives its connection', async () => {
  const redis = await startRedis()
  const admin = new Redis(redis.url)
  onTestFinished(async () => {
    admin.disconnect()
    await redis.stop()
  })
  const program = startNode([await buildBeside(join(folder, writeNodeRedisProgram()))], redis.url)
  await program.prints('before')

  await admin.call('CLIENT', 'KILL', 'TYPE', 'normal')
  program.write('go on')
  program.leave()

  expect(await program.ended()).toMatchObject({ code: 0, out: 'before\nafter\n' })
})

function writeNodeRedisProgram(): string {
  const snippet = snippetsIn(ROOT).find(
    ({ page, text }) => page === 'README.md' && text.includes("from 'perilune/node-redis'"),
  ) as Snippet
  const used = `import { once } from 'node:events'
await redis.lock('cart:7').run(() => console.log('before'))
await once(process.stdin, 'data')
await redis.lock('cart:7').run(() => console.log('after'))
await redis.close()
client.destroy()
`
  return writeSnippet(folder, { ...snippet, text: `${snippet.text}\n${used}` })
}

/** A snippet that connects to nothing itself gets the surroundings that every page speaks of. */
function writeProgram(snippet: Snippet): string {
  const file = writeSnippet(folder, snippet)
  if (snippet.text.includes("from 'perilune/ioredis'")) return file
  const surrounded = `import { Redis } from 'ioredis'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
const client = new Redis(process.env.REDIS_URL)
const redis = perilune(ioredis(client), { namespace: 'shop' })
Object.assign(globalThis, { redis, shutdown: new AbortController().signal })
await import('./${file}')
await redis.close()
client.disconnect()
`
  writeFileSync(join(folder, `in-${file}`), surrounded)
  return `in-${file}`
}

/** The comments after `// →` at the end of lines. */
function expectedOutput(text: string): string {
  return [...text.matchAll(/\/\/ → (.*)$/gm)].map(([, expected]) => expected).join('\n')
}
