// Jobs as a request has them. Payloads and results stay the text that was sent.

import { InvalidArgumentError, type NewJob } from 'perilune'
import { findElements, findMember, findStart } from '../../zaqar/json-slices.ts'

type Given = NewJob<Record<string, unknown>>

/** `request`: the body of the request, `text`: the same as it was sent, `key`: the header Idempotency-Key. */
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
    throw new InvalidArgumentError('Idempotency-Key', 'goes with one job: give each its idempotencyKey')
  }
  if (first.idempotencyKey !== undefined && first.idempotencyKey !== key) {
    throw new InvalidArgumentError('Idempotency-Key', 'differs from the idempotencyKey of the job')
  }
  return [{ ...first, idempotencyKey: key }]
}

/** The text of a member of each job in a list; undefined for one without it. */
export function textsInJobs(text: string, member: string, name = 'jobs'): (string | undefined)[] {
  const list = findMember(text, findStart(text), name)
  return list === null ? [] : findElements(text, list.from).map(({ from }) => textAt(text, from, member))
}

function textAt(text: string, at: number, member: string): string | undefined {
  const slice = findMember(text, at, member)
  return slice === null ? undefined : text.slice(slice.from, slice.to)
}
