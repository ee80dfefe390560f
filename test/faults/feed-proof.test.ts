// The ordering proof of feeds: soaks under trouble, and sabotages that the checker must find.

import { describe, expect, inject, test } from 'vitest'
import { LONG, SEED, someOf, tell } from '../proof.ts'
import { startProxy } from '../servers/proxy.ts'
import type { Window } from '../soak/arrange.ts'
import { checkFeedHistory } from '../soak/check-feed.ts'
import { claimSabotages } from '../soak/claim-sabotages.ts'
import { cutReplies } from '../soak/connection-trouble.ts'
import type { Rule } from '../soak/fault.ts'
import type { SoakVerdict } from '../soak/feed-soak.ts'
import { appendOf, claimedAgain, leftIn, middleOf, middleSeen, replace } from '../soak/find-lines.ts'
import type { Line, Role } from '../soak/history.ts'
import { orderSabotages } from '../soak/order-sabotages.ts'
import { soakBehindProxies, soakOnCluster, soakWithKills } from '../soak/scenes.ts'
import { scriptSabotages } from '../soak/script-sabotages.ts'
import { soakHere } from '../soak/soak-here.ts'

const FOR_MS = LONG ? 60_000 : 1500
/** A soak without work proves nothing; a busy machine does little in a second and a half. */
const LEAST_DONE = LONG ? 1000 : 10

function rulesBroken(lines: readonly Line[], windows: readonly Window[] = []): Rule[] {
  return checkFeedHistory(lines, windows).faults.map(({ rule }) => rule)
}

function titled<Sabotage extends { what: string }>(sabotages: readonly Sabotage[]): [string, Sabotage][] {
  return sabotages.map((sabotage) => [sabotage.what, sabotage])
}

function holds(what: string, seed: number, verdict: SoakVerdict): void {
  tell(`${what}, seed ${seed}: ${JSON.stringify(verdict)}`)
  expect(verdict.faults).toEqual([])
  expect(verdict.totals.failed).toBe(0)
  expect(verdict.totals.observers).toBe(8)
  expect(verdict.totals.done).toBeGreaterThan(LEAST_DONE)
}

describe('32 producers in 4 processes, 8 observers, 8 consumers', { timeout: 240_000 }, () => {
  test('on a cluster whose slots move and whose replicas take over, no ordering promise breaks', async () => {
    const verdict = await soakOnCluster({ forMs: FOR_MS, seed: SEED })

    holds('proof on a cluster', SEED, verdict)
    expect(verdict.totals.unknown).toBe(0)
    expect(verdict.happened['slots moved']).toBeGreaterThan(0)
    expect(verdict.happened['failovers']).toBeGreaterThan(0)
  })

  test('behind connections that are reset and replies that are cut, no ordering promise breaks', async () => {
    const verdict = await soakBehindProxies({ forMs: FOR_MS, seed: SEED + 1 })

    holds('proof behind broken connections', SEED + 1, verdict)
    expect(verdict.happened['replies cut']).toBeGreaterThan(0)
    expect(verdict.happened['resets']).toBeGreaterThan(0)
  })

  test.runIf(LONG)(
    'when masters are killed, only acknowledged writes that were not replicated are lost',
    async () => {
      const verdict = await soakWithKills({ forMs: FOR_MS, seed: SEED + 2 })

      holds('proof with killed masters', SEED + 2, verdict)
      expect(verdict.happened['masters killed']).toBeGreaterThan(1)
    },
  )

  test('the same soak finds that a feed of separate commands loses messages to its observers', async () => {
    const verdict = await soakBehindProxies({ forMs: FOR_MS, seed: SEED + 1, kind: 'unguarded' })

    tell(`the unguarded feed, seed ${SEED + 1}: ${JSON.stringify(verdict)}`)
    const missed = verdict.faults.find(({ rule }) => rule === 'missed')
    expect(missed?.count).toBeGreaterThan(0)
  })
})

describe('the checker', () => {
  const place = () => ({ ports: [inject('redisPort')], cluster: false })
  let recorded: Promise<Line[]> | undefined
  const goodHistory = () => (recorded ??= tellingHistory())

  /** One in which work was claimed twice and some is left: a busy machine gets less done in a second. */
  async function tellingHistory(): Promise<Line[]> {
    const lines = await soakHere({ place: place(), seed: SEED, forMs: 1000 })
    const isTelling = checkFeedHistory(lines).totals.claimedAgain > 0 && leftIn(lines, 'worked').length > 0
    return isTelling ? lines : tellingHistory()
  }

  test('finds nothing in a good history', async () => {
    const { faults, totals } = checkFeedHistory(await goodHistory())

    expect(faults).toEqual([])
    expect(totals.claimedAgain).toBeGreaterThan(0)
  })

  test.each(titled(someOf([...orderSabotages, ...claimSabotages], 4)))(
    'finds that %s',
    async (_, { found, spoil }) => {
      expect(rulesBroken(spoil(await goodHistory()))).toEqual([found])
    },
  )

  test('finds no overlap when an answer arrived after its lease was over', async () => {
    const lines = await goodHistory()
    const { first, second } = claimedAgain(lines)
    const { at } = second.answer
    const late: Line = { ...first.answer, at: at + 10, until: at + 5 }

    expect(rulesBroken(replace(lines, new Map([[first.answer, late]])))).toEqual([])
  })

  test('forgives the loss of writes acknowledged in a window, and of nothing else', async () => {
    const lines = await goodHistory()
    const { message } = middleOf(lines)
    const { at } = appendOf(lines, message).answer
    const lost = lines.filter((line) => !('message' in line && line.message === message))
    const windows = (fromUs: number, feed: Role): Window[] => [{ fromUs, toUs: fromUs, feeds: [feed] }]

    expect(rulesBroken(lost, windows(at, 'watched'))).toEqual([])
    expect(rulesBroken(lost, windows(at + 1, 'watched'))).toEqual(['lost'])
    expect(rulesBroken(lost, windows(at, 'worked'))).toEqual(['lost'])
  })

  test('finds an id that was assigned again after a loss', async () => {
    const lines = await goodHistory()
    const seen = middleSeen(lines)
    const call: Line = {
      kind: 'call',
      at: seen.at - 1,
      by: 'lost',
      n: 1,
      op: 'append',
      feed: 'watched',
      messages: ['lost.1'],
    }
    const shown: Line = { ...seen, message: 'lost.1' }

    expect(
      rulesBroken([...lines, call, shown], [{ fromUs: seen.at, toUs: seen.at, feeds: ['watched'] }]),
    ).toEqual(['reused'])
  })
})

describe('a small soak', () => {
  test.concurrent.each(titled(someOf(scriptSabotages, 2)))('finds that %s', async (_, sabotage) => {
    const proxy = await startProxy(inject('redisPort'))
    const stopCutting = cutReplies(proxy, /"h\d\.p\d+\.\d+"/) // only appends carry messages

    const place = { ports: [proxy.port], cluster: false }
    const broken: Rule[] = []
    // On a busy machine a soak may be over before the rule was needed.
    for (let soak = 0; soak < 12 && !broken.includes(sabotage.found); soak++) {
      broken.push(...rulesBroken(await soakHere({ place, seed: SEED + soak, forMs: 1000, sabotage })))
    }
    stopCutting()
    await proxy.stop()

    expect(broken).toContain(sabotage.found)
  })
})
