// Question: what does a tenant notice of another one whose clients ask for its largest page, read it, never read it, or leave?
// Expectation: every request is answered, 99 of 100 within 50 ms, and the service grows by no more than 100 MB.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Bench } from './harness/bench.ts'
import type { Row } from './harness/print.ts'
import { percentile } from './harness/statistics.ts'
import { type Probed, startProbed } from './request-cost/probed.ts'

const CASES = {
  alone: 'no other client',
  read: 'sixteen clients that read the largest page',
  'never read': 'sixteen clients that ask for it and never read',
  pipeline: 'a client that asks for 300 of them at once and never reads',
  leave: '400 clients a second that ask for it and leave after 50 ms',
} as const
const LASTS_MS = 10_000
const PAUSE_MS = 10

interface Noticed extends Row {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly requests: number
  readonly refused: number
  readonly grownMb: number
}

export async function run(bench: Bench): Promise<void> {
  // The processor time of its gaps is not asked for: to sample it takes a sixth of the process.
  await using service = await startProbed(bench.port, { PROBE_GAPS: 'no' })
  await fill(service.url)
  // The growth by the first requests belongs to no case.
  await noticedBeside(service, 'read', 1000)
  const rows: Noticed[] = []
  for (const how of Object.keys(CASES)) {
    rows.push(await noticedBeside(service, how as keyof typeof CASES, bench.quick ? 500 : LASTS_MS))
  }
  bench.report('requests of another tenant, one after the other', rows)
  await using bare = await startBareServer(bench.port)
  bench.report(
    'the floor: the same requests to a bare server, which shares nothing with the service but the machine and Redis',
    [await noticedBeside(service, 'read', bench.quick ? 500 : LASTS_MS, bare.url)],
  )
  const by = (column: 'p99Ms' | 'refused' | 'grownMb'): Record<string, number> =>
    Object.fromEntries(rows.map((row) => [row.variant, row[column]]))
  bench.judge('p99 of the other tenant, ms', by('p99Ms'), { atMost: 50 })
  bench.judge('requests of the other tenant that were refused', by('refused'), { atMost: 0 })
  bench.judge('growth of the service, MB', by('grownMb'), { atMost: 100 })
}

/** The largest page: a message just below 1 MiB, behind which the page goes on, and one of 4 MiB. */
async function fill(url: string): Promise<void> {
  for (const bytes of [1_040_000, 4_190_000]) {
    const body = JSON.stringify({ body: 'x'.repeat(bytes) })
    const headers = { 'Content-Type': 'application/json', 'X-Project-ID': 'large' }
    const { status } = await fetch(`${url}/v1/feeds/large/messages`, { method: 'POST', headers, body })
    if (status !== 201) throw new Error(`a message was answered ${status}`)
  }
}

async function noticedBeside(
  service: Probed,
  how: keyof typeof CASES,
  lastsMs: number,
  asked = `${service.url}/v1/feeds/small/messages`,
): Promise<Noticed> {
  await sleep(1000)
  await service.look()
  const { rssBytes: before } = await service.look()
  const clients = startClients(service.url, how)
  const spans: number[] = []
  let refused = 0
  const until = performance.now() + lastsMs
  while (performance.now() < until) {
    const from = performance.now()
    const answer = await fetch(asked)
    await answer.text()
    spans.push(performance.now() - from)
    if (answer.status !== 200) refused += 1
    await sleep(PAUSE_MS)
  }
  const { rssBytes } = await service.look()
  clients?.disconnect()
  return {
    variant: CASES[how],
    p50Ms: percentile(spans, 0.5),
    p99Ms: percentile(spans, 0.99),
    requests: spans.length,
    refused,
    grownMb: Math.round((rssBytes - before) / 1e6),
  }
}

function startClients(url: string, how: string): ChildProcess | null {
  if (how === 'alone') return null
  return fork(fileURLToPath(new URL('fair-share/clients.mjs', import.meta.url)), [new URL(url).port, how])
}

async function startBareServer(redisPort: number): Promise<AsyncDisposable & { readonly url: string }> {
  const server = fork(fileURLToPath(new URL('fair-share/bare-server.mjs', import.meta.url)), [
    String(redisPort),
  ])
  const [port] = await once(server, 'message')
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      const ended = once(server, 'exit')
      server.disconnect()
      await ended
    },
  }
}
