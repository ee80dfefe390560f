// The curl lines of the docs, page by page from top to bottom, as a reader would paste them.

import { execFileSync } from 'node:child_process'
import { expect, onTestFinished, test } from 'vitest'
import { startService } from '../../server/service.ts'
import { sqliteItems } from '../../server/testing/items.ts'
import { blocksOf, pagesIn, textOf } from '../../tools/docs/pages.ts'
import { startRedis } from '../servers/redis.ts'
import { ROOT } from './programs.ts'

const ADDRESS = 'http://127.0.0.1:8080'
const pages = pagesIn(ROOT)
  .map((page) => ({ page, shell: shellOf(textOf(ROOT, page)) }))
  .filter(({ shell }) => shell.includes(ADDRESS))

test('the docs of the service have curl lines', () => {
  expect(pages.map(({ page }) => page)).toEqual(
    expect.arrayContaining([
      'README.md',
      'docs/http/coordination.md',
      'docs/http/counters.md',
      'docs/http/feeds.md',
      'docs/http/queues.md',
      'docs/http/zaqar.md',
    ]),
  )
})

test.each(pages)('every request that $page shows succeeds', async ({ shell }) => {
  const url = await startedService()
  const answers: string[] = []

  for (const words of callsIn(shell)) {
    if (words.some((word) => word.includes('/tail'))) continue // it has no end
    answers.push(await ask(url, words.map(filledIn(answers))))
  }

  expect(answers.filter((answer) => !/^2\d\d /.test(answer))).toEqual([])
})

async function startedService(): Promise<string> {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const items = await sqliteItems()
  onTestFinished(() => items.close())
  await items.makeVotes()
  const { database, ...target } = items.entry
  const environment = {
    REDIS_URL: redis.url,
    // As the page of counters has them.
    PERILUNE_COUNTERS: JSON.stringify({
      votes: { ...items.entry, fsyncGrace: '0s' },
      ratings: { database, events: { table: 'votes', id: 'item', target } },
    }),
    PORT: '0',
    LOG_LEVEL: 'silent',
  }
  const service = await startService(environment, () => undefined)
  onTestFinished(() => service.close())
  return service.url
}

function shellOf(text: string): string {
  const shell = blocksOf(text).filter(({ info }) => info === 'sh')
  return shell.map((block) => block.text.replace(/^(npm|npx) .*$/gm, '')).join('\n')
}

/** The words of each call, as a shell reads them. */
function callsIn(shell: string): string[][] {
  const script = `curl() { printf '%s\\0' "$@"; printf '\\1\\0'; }\n${shell}`
  const words = execFileSync('sh', { input: script, encoding: 'utf8' }).split('\u{0}').slice(0, -1)
  const calls: string[][] = [[]]
  for (const word of words) {
    if (word === '\u{1}') calls.push([])
    else calls.at(-1)?.push(word)
  }
  return calls.slice(0, -1)
}

/** Fills in `<token>`, `<id>`, `<cursor>` and `<load>` from an earlier answer, as the reader does. */
function filledIn(answers: readonly string[]): (word: string) => string {
  return (word) =>
    word.replace(/<(token|id|cursor|load)[^>]*>/g, (place, name: string) => {
      const field = new RegExp(`"${name}":"?(${name === 'load' ? '[\\w-]+' : '[\\d-]+'})`)
      const answer = answers.findLast((text) => field.test(text)) ?? ''
      return field.exec(answer)?.[1] ?? place
    })
}

/** Does what curl would do; a machine may have no curl. */
async function ask(url: string, words: string[]): Promise<string> {
  const after = (flag: string): string[] => words.filter((_, at) => words[at - 1] === flag)
  const [body] = after('-d')
  const [method = body === undefined ? 'GET' : 'POST'] = after('-X')
  // The default content type of curl.
  const headers = new Headers(
    body === undefined ? {} : { 'Content-Type': 'application/x-www-form-urlencoded' },
  )
  for (const header of after('-H')) headers.set(...(header.split(': ') as [string, string]))
  const target = words.find((word) => word.startsWith(ADDRESS)) ?? ''
  // The reader need not wait for what does not come.
  const path = target.slice(ADDRESS.length).replace(/wait=\d+s/, 'wait=0s')
  const answer = await fetch(url + path, { method, headers, body: body ?? null })
  return `${answer.status} ${method} ${path} ${await answer.text()}`
}
