// The compiler proves from the text, and a server confirms: MONITOR shows each command that a script runs, and every
// key among its arguments must be one of the call's KEYS.

import { describe, expect, onTestFinished, test } from 'vitest'
import { monitor, type Seen } from '../servers/monitor.ts'
import { startRedis } from '../servers/redis.ts'
import { placeOn } from './uses/place.ts'
import { allUses, scriptsOf } from './uses/use.ts'

describe.each(await allUses())('of the $structure', ({ structure, steps }) => {
  test('no script touches a key that its call does not declare', async () => {
    const server = await startRedis()
    onTestFinished(() => server.stop())
    const { seen, until, stop } = await monitor(server.port)
    onTestFinished(stop)
    const place = await placeOn({ port: server.port, namespace: 'watched' })

    for (const [, , run] of steps(place)) await run()
    await place.client.echo('the end')
    await until('the end')

    const { undeclared, ran } = compare(seen)
    expect(undeclared).toEqual([])
    expect(unused(structure, ran), 'operations that no step uses').toEqual([])
  })
})

function compare(seen: readonly Seen[]): { undeclared: string[]; ran: Set<string> } {
  const undeclared: string[] = []
  const ran = new Set<string>()
  let declared = new Set<string>()
  for (const { source, words } of seen) {
    const [command = '', ...args] = words
    if (/^eval(sha)?$/i.test(command)) {
      declared = new Set(args.slice(2, 2 + Number(args[1])))
      ran.add(args[0] ?? '')
    } else if (source === 'lua' && !/^(?:s?publish|pubsub)$/i.test(command)) {
      const touched = args.filter((word) => word.startsWith('watched:') && !declared.has(word))
      undeclared.push(...touched.map((key) => `${command} ${key}`))
    }
  }
  return { undeclared, ran }
}

function unused(structure: string, ran: ReadonlySet<string>): string[] {
  return [...scriptsOf(structure)].filter(([, sha1]) => !ran.has(sha1)).map(([operation]) => operation)
}
