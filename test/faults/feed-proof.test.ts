// The ordering proof of feeds: soaks under trouble, and sabotages that the checker must find.

import { describe, expect, inject, test } from 'vitest'
import { LONG, SEED, tell } from '../proof.ts'
import { startProxy } from '../servers/proxy.ts'
import { checkFeedHistory } from '../soak/check-feed.ts'
import { claimSabotages } from '../soak/claim-sabotages.ts'
import { cutReplies } from '../soak/connection-trouble.ts'
import type { SoakVerdict } from '../soak/feed-soak.ts'
import { appendOf, middleOf } from '../soak/find-lines.ts'
import { orderSabotages } from '../soak/order-sabotages.ts'
import { soakBehindProxies, soakOnCluster, soakWithKills } from '../soak/scenes.ts'
import { scriptSabotages } from '../soak/script-sabotages.ts'
import { soakHere } from '../soak/soak-here.ts'

const FOR_MS = LONG ? 60_000 : 2000

function titled<Sabotage extends { what: string }>(sabotages: readonly Sabotage[]): [string, Sabotage][] {
  return sabotages.map((sabotage) => [sabotage.what, sabotage])
}

function holds(what: string, seed: number, verdict: SoakVerdict): void {
  tell(`${what}, seed ${seed}: ${JSON.stringify(verdict)}`)
  expect(verdict.faults).toEqual([])
  expect(verdict.totals.failed).toBe(0)
  expect(verdict.totals.observers).toBe(8)
  expect(verdict.totals.done).toBeGreaterThan(50)
}

describe('32 producers in 4 processes, 8 observers, 8 consumers', { timeout: 240_000 }, () => {
  test('on a cluster whose slots move and whose replicas take over, no promise about order breaks', async () => {
    const verdict = await soakOnCluster({ forMs: FOR_MS, seed: SEED })

    holds('proof on a cluster', SEED, verdict)
    expect(verdict.totals.unknown).toBe(0)
    expect(verdict.happened['slots moved']).toBeGreaterThan(0)
    expect(verdict.happened['failovers']).toBeGreaterThan(0)
  })

  test('behind connections that are reset and replies that are cut, no promise about order breaks', async () => {
    const verdict = await soakBehindProxies({ forMs: FOR_MS, seed: SEED + 1 })

    holds('proof behind broken connections', SEED + 1, verdict)
    expect(verdict.happened['replies cut']).toBeGreaterThan(0)
    expect(verdict.happened['resets']).toBeGreaterThan(0)
  })

  test.runIf(LONG)('when masters are killed, only what was acknowledged just before is lost', async () => {
    const verdict = await soakWithKills({ forMs: FOR_MS, seed: SEED + 2 })

    holds('proof with killed masters', SEED + 2, verdict)
    expect(verdict.happened['masters killed']).toBe(2)
  })

  test('the same soak finds that a feed of separate commands loses messages to its observers', async () => {
    const verdict = await soakBehindProxies({ forMs: FOR_MS, seed: SEED + 1, kind: 'unguarded' })

    tell(`the unguarded feed, seed ${SEED + 1}: ${JSON.stringify(verdict)}`)
    const missed = verdict.faults.find(({ rule }) => rule === 'missed')
    expect(missed?.count).toBeGreaterThan(0)
  })
})

describe('the checker', () => {
  const place = () => ({ ports: [inject('redisPort')], cluster: false })
  const recording = new Map<string, Promise<Awaited<ReturnType<typeof soakHere>>>>()
  const goodHistory = () => {
    const known = recording.get('good') ?? soakHere({ place: place(), seed: SEED, forMs: 1000 })
    recording.set('good', known)
    return known
  }

  test('finds nothing in a good history', async () => {
    const { faults, totals } = checkFeedHistory(await goodHistory())

    expect(faults).toEqual([])
    expect(totals.claimedAgain).toBeGreaterThan(0)
  })

  test.each(titled([...orderSabotages, ...claimSabotages]))('finds that %s', async (_, { found, spoil }) => {
    const { faults } = checkFeedHistory(spoil(await goodHistory()))

    expect(faults.map(({ rule }) => rule)).toEqual([found])
  })

  test('forgives the loss of what was acknowledged in a window, and of nothing else', async () => {
    const lines = await goodHistory()
    const { message } = middleOf(lines)
    const { answer } = appendOf(lines, message)
    const lost = lines.filter((line) => !('message' in line && line.message === message))
    const window = { fromUs: answer.at, toUs: answer.at }

    expect(checkFeedHistory(lost, [window]).faults).toEqual([])
    const later = { fromUs: answer.at + 1, toUs: answer.at + 1 }
    expect(checkFeedHistory(lost, [later]).faults.map(({ rule }) => rule)).toEqual(['lost'])
  })
})

describe('a small soak', () => {
  test.concurrent.each(titled(scriptSabotages))('finds that %s', async (_, sabotage) => {
    const proxy = await startProxy(inject('redisPort'))
    const stopCutting = cutReplies(proxy, /"h\d\.p\d+\.\d+"/) // only appends carry messages

    const lines = await soakHere({
      place: { ports: [proxy.port], cluster: false },
      seed: SEED,
      forMs: 1500,
      sabotage,
    }).finally(stopCutting)
    await proxy.stop()

    expect(checkFeedHistory(lines).faults.map(({ rule }) => rule)).toContain(sabotage.found)
  })
})
