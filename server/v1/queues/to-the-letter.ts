// Jobs of a request. Payloads and results stay the text that was sent.

import { InvalidArgumentError, type NewJob, type NextJob } from 'perilune'
import { findElementsOf, findMember, findStart } from '../../json/slices.ts'

type Given = NewJob<Record<string, unknown>>
interface Followed {
  readonly next: NextJob
}
type Step<Body> = Body & { readonly result: string | undefined }

/** `request`: the body of the request; `text`: the same as it was sent; `key`: the header Idempotency-Key. */
export function newJobs(request: Given | { jobs: Given[] }, text: string, key: string | undefined): Given[] {
  const single = !('jobs' in request)
  const payloads = single ? [textAt(text, findStart(text), 'payload')] : textsInJobs(text, 'payload')
  const jobs = withKey(single ? [request] : request.jobs, key)
  return jobs.map((job, at) => {
    const payload = payloads[at]
    if (payload === undefined) throw new InvalidArgumentError('payload', 'is missing')
    return { ...job, payload }
  })
}

/** A completed job and its next job. `given`: the body of the request; `text`: the same as it was sent. */
export function stepIn<Body extends Followed>(given: Body, text: string): Step<Body> {
  return stepAt(given, text, findStart(text))
}

/** Like `stepIn`, for each of the list `jobs`. */
export function stepsIn<Body extends Followed>(given: readonly Body[], text: string): Step<Body>[] {
  const places = placesOfJobs(text, 'jobs')
  return given.map((each, at) => stepAt(each, text, places[at] ?? 0))
}

function stepAt<Body extends Followed>(given: Body, text: string, at: number): Step<Body> {
  const inner = findMember(text, at, 'next')
  const payload = inner === null ? undefined : textAt(text, inner.from, 'payload')
  if (payload === undefined) throw new InvalidArgumentError('next.payload', 'is missing')
  return { ...given, next: { ...given.next, payload }, result: textAt(text, at, 'result') }
}

/** The text of the only payload of a request. */
export function payloadIn(text: string): string {
  const payload = textAt(text, findStart(text), 'payload')
  if (payload === undefined) throw new InvalidArgumentError('payload', 'is missing')
  return payload
}

function withKey(jobs: Given[], key: string | undefined): Given[] {
  const [first, ...others] = jobs
  if (key === undefined || first === undefined) return jobs
  if (others.length > 0) {
    throw new InvalidArgumentError('Idempotency-Key', 'is only for one job: give each its idempotencyKey')
  }
  if (first.idempotencyKey !== undefined && first.idempotencyKey !== key) {
    throw new InvalidArgumentError('Idempotency-Key', 'differs from the idempotencyKey of the job')
  }
  return [{ ...first, idempotencyKey: key }]
}

/** The text of a member of each job in a list; undefined if a job does not have it. */
export function textsInJobs(text: string, member: string, name = 'jobs'): (string | undefined)[] {
  return placesOfJobs(text, name).map((at) => textAt(text, at, member))
}

function placesOfJobs(text: string, name: string): number[] {
  return findElementsOf(text, findStart(text), name).map(({ from }) => from)
}

function textAt(text: string, at: number, member: string): string | undefined {
  const slice = findMember(text, at, member)
  return slice === null ? undefined : text.slice(slice.from, slice.to)
}
