// Entries of an index as a request adds them. Payloads stay the text that was sent.

import type { NewEntry, Suggestion } from 'perilune'
import { findElementsOf, findMember, findStart } from '../../json/slices.ts'

/** `given`: the list `entries` of the request; `text`: the request as it was sent. */
export function newEntries(given: readonly NewEntry<unknown>[], text: string): NewEntry<string>[] {
  const slices = findElementsOf(text, findStart(text), 'entries')
  return given.map((each, at) => {
    const { payload: _, ...entry } = each
    const slice = slices[at]
    const payload = slice === undefined ? null : findMember(text, slice.from, 'payload')
    return payload === null ? entry : { ...entry, payload: text.slice(payload.from, payload.to) }
  })
}

/** JSON of suggestions, each with its unchanged payload. */
export function suggestionsText(suggestions: readonly Suggestion<string>[]): string {
  const texts = suggestions.map(({ payload, ...rest }) => {
    const others = JSON.stringify(rest).slice(0, -1)
    return `${others},"payload":${payload ?? 'null'}}`
  })
  return `{"suggestions":[${texts.join(',')}]}`
}
