// What the compiler proves of the text, a server confirms: MONITOR shows each command that a script runs,
// and every key among its arguments must be one of the call's KEYS.

import { once } from 'node:events'
import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../servers/redis.ts'
import { placeOn } from './uses/place.ts'
import { allUses, scriptsOf } from './uses/use.ts'

interface Seen {
  readonly source: string
  readonly words: string[]
}

describe.each(await allUses())('of the $structure', ({ structure, steps }) => {
  test('no script touches a key that its call does not declare', async () => {
    const server = await startRedis()
    onTestFinished(() => server.stop())
    const { seen, end } = await monitor(server.port)
    const place = await placeOn({ port: server.port, namespace: 'watched' })

    for (const [, , run] of steps(place)) await run()
    await place.client.echo('the end')
    await end('the end')

    const { undeclared, ran } = compare(seen)
    expect(undeclared).toEqual([])
    expect(unused(structure, ran), 'operations that no step uses').toEqual([])
  })
})

/** Everything that the server does from here on. */
async function monitor(port: number): Promise<{ seen: Seen[]; end(word: string): Promise<void> }> {
  // A ready check would meet the replies of MONITOR.
  const client = await new Redis({ port, lazyConnect: true, enableReadyCheck: false }).monitor()
  onTestFinished(() => client.disconnect())
  const seen: Seen[] = []
  client.on('monitor', (_time: string, words: string[], source: string) => seen.push({ source, words }))
  const end = async (word: string): Promise<void> => {
    while (!seen.some(({ words }) => words[1] === word)) await once(client, 'monitor')
  }
  return { seen, end }
}

function compare(seen: readonly Seen[]): { undeclared: string[]; ran: Set<string> } {
  const undeclared: string[] = []
  const ran = new Set<string>()
  let declared = new Set<string>()
  for (const { source, words } of seen) {
    const [command = '', ...args] = words
    if (/^eval(sha)?$/i.test(command)) {
      declared = new Set(args.slice(2, 2 + Number(args[1])))
      ran.add(args[0] ?? '')
    } else if (source === 'lua' && !/^s?publish$/i.test(command)) {
      const touched = args.filter((word) => word.startsWith('watched:') && !declared.has(word))
      undeclared.push(...touched.map((key) => `${command} ${key}`))
    }
  }
  return { undeclared, ran }
}

function unused(structure: string, ran: ReadonlySet<string>): string[] {
  return [...scriptsOf(structure)].filter(([, sha1]) => !ran.has(sha1)).map(([operation]) => operation)
}
