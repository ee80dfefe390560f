// Roll-ups at work with writers whose transactions overlap, fail, are undone and hold rows. PERILUNE_LONG=1 plays forty
// times as many transactions.
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { countOf, SEED, tell } from '../proof.ts'
import { dice } from '../simulator/stage.ts'
import {
  makeVotes,
  openMariadbOfNulls,
  postgresAlone,
  rollUp,
  rollUpAll,
  VOTES,
  voteFor,
} from '../sinks/counts-fixture.ts'
import { patiently, stored } from '../sinks/fixture.ts'
import { openMariadb, type ServerPlace, type Session } from '../sinks/places.ts'

const WRITERS = 6
const WORKERS = 3
const TRANSACTIONS = countOf(2000, 50)
const FEWEST_ROLLED = 10
const ITEMS = 7

const openPostgres = postgresAlone()

/**
 * Votes of one transaction: some fail, for the voter has voted; some transactions are undone, some hold rows of others.
 */
async function write({ run }: Session, random: (sides: number) => number, writer: number): Promise<void> {
  await run('BEGIN')
  try {
    if (random(5) === 0) await run(`SELECT * FROM votes WHERE item = ${1 + random(ITEMS)} LIMIT 3 FOR UPDATE`)
    for (let votes = random(4); votes >= 0; votes--) {
      const voters = Array.from({ length: 1 + random(3) }, () => `v${writer}-${random(1_000_000)}`)
      await run(voteFor(1 + random(ITEMS), voters.join(' '), 1 + random(3)))
      if (random(8) === 0) await run(voteFor(1, voters[0] ?? ''))
      if (random(4) === 0) await sleep(random(12))
    }
    await run(random(6) === 0 ? 'ROLLBACK' : 'COMMIT')
  } catch {
    await run('ROLLBACK')
  }
}

interface Rolled {
  readonly version: number
  readonly since: number
  readonly events: number
}

/** The roll-ups during the writes; a machine that is too busy to roll up in the meantime gets more writes. */
async function soak(place: ServerPlace, seed: number): Promise<Rolled[]> {
  const sources = Array.from({ length: WORKERS }, () => place.events(VOTES))
  for (const source of sources) await source.prepare()
  const rolled: Rolled[] = []
  let writing = true
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    const [session, random] = [await place.session(), dice(seed + writer)]
    for (let count = 0; count < TRANSACTIONS || rolled.length < FEWEST_ROLLED; count++)
      await write(session, random, writer)
  })
  const workers = sources.map(async (votes, worker) => {
    const random = dice(seed + 100 + worker)
    while (writing) {
      const { version, since, events } = await patiently(() => rollUp(votes, [], 1 + random(20)))
      if (version > since) rolled.push({ version, since, events })
      await sleep(random(5))
    }
  })
  await Promise.all(writers)
  writing = false
  await Promise.all(workers)
  return rolled
}

describe.each([
  { name: 'postgres', open: openPostgres },
  { name: 'mariadb', open: openMariadb },
  { name: 'mariadb, marked from NULL', open: openMariadbOfNulls },
])('in $name', ({ name, open }) => {
  test('each row is counted once, even of overlapping transactions', { timeout: 1_200_000 }, async () => {
    const place = await open()
    await makeVotes(place)

    const rolled = await soak(place, SEED)
    const rest = await rollUpAll(place.events(VOTES), 50)

    const rows = await place.run(
      'SELECT item AS id, SUM(points) AS votes, COUNT(*) AS one FROM votes GROUP BY item',
    )
    const all = rows.reduce((sum, { one }) => sum + Number(one), 0)
    expect(await stored(place, 'items')).toEqual(
      Object.fromEntries(rows.map(({ id, votes: sum }) => [String(id), String(sum)])),
    )
    expect(rolled.reduce((sum, { events }) => sum + events, rest)).toBe(all)
    const versions = rolled.toSorted((one, other) => one.version - other.version)
    expect(versions.map(({ since }) => since)).toEqual([
      0,
      ...versions.slice(0, -1).map(({ version }) => version),
    ])
    tell(`counts in ${name}: ${all} rows counted once, ${rolled.length} roll-ups while they were written`)
  })
})
