// The tests that qless-core has for its queue, by their names: each of them is here with its subject, and with the
// behaviour of our queue (docs/from-qless.md).

import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** The tests of each of its classes, `unlock` for `test_unlock`. */
const CASES = {
  TestAsserts: `assertRaisesRegexp`,
  TestConfig: `all get set_get unset_default unset`,
  TestDependencies: `
    unlock unlock_with_delay unlock_with_delay_satisfied complete_depends_with_delay complete_depends
    satisfied_dependencies nonexistent_dependencies cancel_dependency_chain cancel_incomplete_chain
    cancel_with_missing_jobs cancel_any_order multiple_dependency dependency_chain add_dependency
    remove_dependency reput_dependency depends_waiting depends_scheduled depends_nonexistent
    depends_failed depends_running`,
  TestEvents: `
    track track_canceled track_completed track_fail track_popped track_put track_stalled failed_retries
    failed_retries_tracked advance timeout put reput config_set config_unset cancel_waiting cancel_running
    cancel_depends cancel_scheduled cancel_failed move_lock`,
  TestFail: `
    malformed basic put fail_waiting fail_depends fail_scheduled fail_nonexistent fail_completed
    fail_owner`,
  TestFailed: `malformed basic retries failed_pagination`,
  TestUnfailed: `basic`,
  TestGeneral: `keys unknown_function no_time malformed_time`,
  TestJob: `malformed log log_nonexistent history`,
  TestRequeue: `requeue_existing_job requeue_cancelled_job`,
  TestComplete: `
    malformed complete_waiting complete_depends complete_scheduled complete_nonexistent complete_failed
    complete_previously_failed basic advance advance_empty_array_mangle wrong_worker wrong_queue
    expire_complete_count expire_complete_time`,
  TestCancel: `
    cancel_waiting cancel_depends cancel_dependents cancel_scheduled cancel_nonexistent cancel_failed
    cancel_running cancel_retries cancel_pop_retries`,
  TestLocks: `
    malformed move lose_lock heartbeat heartbeat_waiting heartbeat_failed heartbeat_depends
    heartbeat_scheduled heartbeat_nonexistent heartbeat_completed heartbeat_wrong_worker`,
  TestRetries: `basic move_failed_retries reset_complete reset_move`,
  TestRetry: `
    malformed retry_waiting retry_completed retry_failed retry_otherowner retry_complete retry_fail
    retry_heartbeat retry_nonexistent retry_group_message retry_delay retry_wrong_queue
    retry_failed_retries`,
  TestGracePeriod: `basic repeated fail`,
  TestJobs: `
    malformed complete running stalled scheduled depends recurring recurring_offset scheduled_waiting
    pagination_complete pagination_running`,
  TestQueue: `
    stalled waiting running depends scheduled recurring recurring_offset pause advance recurring_move
    scheduled_waiting`,
  TestPut: `
    malformed basic data_as_array put_delay put_retries put_tags put_priority put_depends
    put_depends_with_delay move move_update`,
  TestPeek: `malformed basic priority time_order move recurring priority_update`,
  TestPop: `
    malformed basic pop_many priority time_order move max_concurrency reduce_max_concurrency
    stalled_max_concurrency fail_max_concurrency`,
  TestRecurring: `
    malformed basic offset tags priority retries backlog get update_priority update_interval
    update_retries update_data update_klass update_queue unrecur empty_array_data multiple tag untag
    rerecur rerecur_attributes rerecur_move history`,
  TestStats: `malformed wait completion failed failed_cancel retries original_day failed_retries failed_pop_retries`,
  TestTag: `
    malformed add remove add_existing remove_nonexistent add_multiple get get_add order cancel
    expired_jobs expired_count_jobs top recurring pagination_get pagination_top`,
  TestTrack: `malfomed track untrack track_nonexistent jobs_tracked jobs_untracked`,
  TestWorker: `
    basic worker_registration_lapse worker_heartbeat_registration stalled locks cancelled failed complete
    put reregister expiration unregistered retry_worker`,
}

function namesOf(cases: Record<string, string>): string[] {
  return Object.entries(cases).flatMap(([of, names]) =>
    names
      .trim()
      .split(/\s+/)
      .map((name) => `${of} ${name}`),
  )
}

/** The titles in a file that has `describe('TestPop'` and `'test_basic`, in a title or a table of titles. */
function namesIn(source: string): string[] {
  const [, ...classes] = source.split(/^describe\('(?=Test)/m)
  return classes.flatMap((text) => {
    const of = /^\w+/.exec(text)?.[0] ?? ''
    return [...text.matchAll(/['"`]test_(\w+)(?=[:'"`])/g)].map(([, name]) => `${of} ${name}`)
  })
}

function namesHere(): string[] {
  const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.test.ts'))
  const others = files.filter((file) => file !== 'complete.test.ts')
  return others.flatMap((file) => namesIn(readFileSync(`${import.meta.dirname}/${file}`, 'utf8')))
}

test('each test of qless has one here, and none is unknown', () => {
  const [wanted, here] = [namesOf(CASES), namesHere()]

  expect(wanted.length).toBe(243)
  expect(here.toSorted()).toEqual(wanted.toSorted())
})
