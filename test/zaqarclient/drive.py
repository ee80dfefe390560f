"""Drives the service with OpenStack's own client, through every call that the client has.

Usage: drive.py URL-OF-THE-SERVICE URL-OF-A-SUBSCRIBER URL-OF-ANOTHER
"""

import sys
import uuid

from zaqarclient import errors
from zaqarclient.queues import client as clients
from zaqarclient.queues.v2 import claim, client, message, queues, subscription
from zaqarclient.transport import errors as answers

from checks import Checks

URL, HOOK, OTHER_HOOK = sys.argv[1:4]
checks = Checks()
watched = checks.watch(
    client.Client, queues.Queue, message.Message, claim.Claim, subscription.Subscription)


def connect(project='real-client', url=URL, **signed):
    backend = 'signed-url' if signed else 'noauth'
    options = dict(signed, os_project_id=project)
    conf = {'auth_opts': {'backend': backend, 'options': options}, 'client_uuid': str(uuid.uuid4())}
    return clients.Client(url, version=2, conf=conf)


alice, bob = connect(), connect()


def bodies(messages):
    return [each.body for each in messages]


def service():
    checks.equal('ping', alice.ping(), True)
    checks.equal('ping without a server', connect(url='http://127.0.0.1:1').ping(), False)
    checks.true('homedoc names the queues', 'rel/queues' in alice.homedoc()['resources'])
    checks.raises('health is for operators', answers.ForbiddenError, alice.health)
    checks.true('transport', alice.transport() is not None)
    checks.raises('pools are not served', answers.ResourceNotFound, alice.pools)
    checks.raises('a pool is not served', answers.ResourceNotFound,
                  lambda: alice.pool('p', auto_create=True, uri='x', weight=1))
    checks.raises('flavors are not served', answers.ResourceNotFound, alice.flavors)
    checks.raises('a flavor is not served', answers.ResourceNotFound,
                  lambda: alice.flavor('f', pool_list=['p'], auto_create=True))


def queue():
    made = alice.queue('made', force_create=True)
    checks.equal('name', made.name, 'made')
    checks.equal('defaults', made.metadata()['_default_message_ttl'], 3600)
    checks.equal('metadata set', made.metadata({'colour': 'red', '_default_message_ttl': 120})['colour'], 'red')
    checks.equal('metadata cached', made.metadata_dict['_default_message_ttl'], 120)
    fresh = alice.queue('made').metadata(force_reload=True)
    checks.equal('metadata stored', (fresh['colour'], fresh['_default_message_ttl']), ('red', 120))
    checks.true('metadata replaced', 'colour' not in made.metadata({'size': 1}, force_reload=True))
    checks.equal('metadata cleared', 'size' in made.metadata({}), False)
    checks.raises('metadata out of range', answers.MalformedRequest,
                  lambda: made.metadata({'_default_message_ttl': 1}))
    checks.raises('metadata of no queue', answers.ResourceNotFound,
                  lambda: alice.queue('nowhere').metadata({'a': 1}))
    checks.raises('exists is of version 1', errors.InvalidOperation, made.exists)
    made.ensure_exists(force_create=True)
    listed, count = alice.queues(with_count=True, detailed=True)
    listed = list(listed)
    checks.equal('listed', ([each.name for each in listed], count), (['made'], 1))
    checks.equal('href', listed[0].href, '/v2/queues/made')
    for number in range(25):
        alice.queue('many-%02d' % number, force_create=True)
    pages, _ = alice.queues(limit=7)
    checks.equal('all queues, page by page', len([each for each in pages.stream()]), 26)
    some, _ = alice.queues(marker='many-22')
    checks.equal('behind a marker', [each.name for each in some], ['many-23', 'many-24'])
    made.delete()
    made.delete()
    checks.equal('deleted', alice.queue('made').metadata(force_reload=True).get('size'), None)
    strangers, _ = connect('another').queues()
    checks.equal('projects are apart', list(strangers), [])


def messages():
    room, hers = bob.queue('room'), alice.queue('room')
    checks.equal('no messages', list(room.messages()), [])
    posted = hers.post({'body': {'n': 0}, 'ttl': 60})
    checks.equal('one posted', len(posted['resources']), 1)
    posted = hers.post([{'body': number, 'ttl': 60} for number in range(1, 50)])
    ids = [path.split('/')[-1] for path in posted['resources']]
    checks.equal('own messages hide', list(hers.messages()), [])
    checks.equal('echo', bodies(hers.messages(echo=True, limit=2)), [{'n': 0}, 1])
    checks.equal('all, page by page', bodies(room.messages(limit=7).stream()), [{'n': 0}] + list(range(1, 50)))

    found = room.message(ids[0])
    checks.equal('one by id', (found.body, found.ttl, found.id), (1, 60, ids[0]))
    checks.equal('unclaimed', found.claim_id, None)
    checks.equal('many by id', bodies(room.messages(ids[4], ids[2], 'none')), [5, 3])
    checks.raises('an unknown id', answers.ResourceNotFound, lambda: room.message('1'))

    page = room.messages(limit=5)
    checks.equal('first page', bodies(page), [{'n': 0}, 1, 2, 3, 4])
    link = page._links[0]['href']
    room.delete_messages(*ids[:4])
    checks.equal('a marker outlives its message', bob.follow(link)['messages'][0]['body'], 5)

    room.post([{'body': 'bob', 'ttl': 60}] * 30)
    hers.post({'body': 'behind', 'ttl': 60})
    seen = bodies(room.messages(limit=10).stream())
    checks.equal('behind a page of only own messages', seen[-1], 'behind')
    checks.equal('filtered', seen, [{'n': 0}] + list(range(5, 50)) + ['behind'])

    found = room.message(ids[5])
    found.delete()
    checks.raises('deleted', answers.ResourceNotFound, lambda: room.message(ids[5]))
    found.delete()
    checks.equal('popped', bodies(room.pop(3)), [{'n': 0}, 5, 7])
    checks.raises('too many popped', answers.MalformedRequest, lambda: room.pop(21))
    checks.raises('no list', answers.MalformedRequest, lambda: room.post({'no': 'body'}))


def claims():
    jobs = alice.queue('jobs')
    jobs.post([{'body': number, 'ttl': 300} for number in range(6)])
    mine = jobs.claim(ttl=100, grace=60, limit=3)
    held = list(mine)
    checks.equal('claimed', bodies(held), [0, 1, 2])
    checks.equal('its ttl', (mine.ttl, mine.age >= 0), (100, True))
    checks.equal('each names the claim', {each.claim_id for each in held}, {mine.id})
    again = jobs.claim(id=mine.id)
    checks.equal('found by its id', bodies(again), [0, 1, 2])
    checks.equal('found with its ttl', jobs.claim(id=mine.id).ttl, 100)
    checks.equal('claimed ones hide', bodies(bob.queue('jobs').messages()), [3, 4, 5])
    shown = list(bob.queue('jobs').messages(include_claimed=True))
    checks.equal('shown when asked for', [each.claim_id for each in shown], [mine.id] * 3 + [None] * 3)
    stats = jobs.stats['messages']
    checks.equal('stats', (stats['claimed'], stats['free'], stats['total']), (3, 3, 6))
    checks.equal('stats show the ends', (stats['oldest']['body'], stats['newest']['body']), (0, 5))

    bare = jobs.message(held[0].id)
    bare.href = bare.href.split('?')[0]
    checks.raises('deleting without the claim', answers.ForbiddenError, bare.delete)
    held[0].delete()
    checks.equal('acked', bodies(jobs.claim(id=mine.id)), [1, 2])
    mine.update(ttl=200, grace=100)
    checks.equal('updated', (mine.ttl, jobs.claim(id=mine.id).ttl), (200, 200))
    checks.raises('ttl out of range', answers.MalformedRequest, lambda: mine.update(ttl=1))
    theirs = bob.queue('jobs').claim(limit=20)
    checks.equal('the rest for another', bodies(theirs), [3, 4, 5])
    checks.equal('nothing left', list(jobs.claim()), [])
    mine.delete()
    mine.delete()
    checks.raises('released', answers.ResourceNotFound, lambda: jobs.claim(id=mine.id).age)
    checks.equal('released ones are free', bodies(jobs.claim(limit=20)), [1, 2])

    jobs.purge(resource_types=['messages'])
    checks.equal('purged', jobs.stats['messages'], {'claimed': 0, 'free': 0, 'total': 0})
    jobs.purge()


def subscriptions():
    news = alice.queue('news', force_create=True)
    made = alice.subscription('news', subscriber=HOOK, ttl=600, options={'post_headers': {'X-A': 'b'}})
    checks.equal('made', (made.subscriber, made.ttl, made.confirmed), (HOOK, 600, False))
    checks.equal('options', made.options, {'post_headers': {'X-A': 'b'}})
    same = alice.subscription('news', subscriber=HOOK, ttl=600)
    checks.equal('made once', same.id, made.id)
    made.ensure_exists()
    found = alice.subscription('news', id=made.id)
    checks.equal('found', (found.subscriber, found.age >= 0), (HOOK, True))
    made.update({'ttl': 1200, 'subscriber': OTHER_HOOK})
    checks.equal('updated', alice.subscription('news', id=made.id).ttl, 1200)
    other = alice.subscription('news', subscriber=HOOK)
    checks.equal('two listed', {each.id for each in alice.subscriptions('news')}, {made.id, other.id})
    pages = news.subscriptions(limit=1).stream()
    checks.equal('page by page', {each.id for each in pages}, {made.id, other.id})
    checks.raises('no mail', answers.MalformedRequest,
                  lambda: alice.subscription('news', subscriber='mailto:ada@example.org'))
    checks.raises('no neighbours', answers.MalformedRequest,
                  lambda: alice.subscription('news', subscriber='http://10.0.0.1/'))
    checks.raises('ttl out of range', answers.MalformedRequest,
                  lambda: alice.subscription('news', subscriber=HOOK, ttl=59))
    made.delete()
    made.delete()
    checks.raises('deleted', answers.ResourceNotFound, lambda: alice.subscription('news', id=made.id))
    news.purge(resource_types=['subscriptions'])
    checks.equal('purged', list(news.subscriptions()), [])


def shared():
    room = alice.queue('shared')
    room.post({'body': 'for guests', 'ttl': 60})
    signed = room.signed_url(paths=['messages'], methods=['GET'], ttl_seconds=60)
    checks.equal('signed', (signed['paths'], signed['methods']), (['/v2/queues/shared/messages'], ['GET']))
    pass_on = {key: signed[key] for key in ('expires', 'methods', 'paths', 'signature')}
    guest = connect(**pass_on)
    checks.equal('a guest reads', bodies(guest.queue('shared').messages()), ['for guests'])
    checks.raises('and does not write', answers.ResourceNotFound,
                  lambda: guest.queue('shared').post({'body': 1, 'ttl': 60}))
    checks.raises('and reads nothing else', answers.ResourceNotFound,
                  lambda: list(guest.queue('shared2').messages()))
    stranger = connect('another', **pass_on)
    checks.raises('in no other project', answers.ResourceNotFound,
                  lambda: list(stranger.queue('shared').messages()))
    forged = connect(**dict(pass_on, methods=['GET', 'POST']))
    checks.raises('no more than was signed', answers.ResourceNotFound,
                  lambda: forged.queue('shared').post({'body': 1, 'ttl': 60}))
    usual = room.signed_url()
    checks.equal('signed by default', (usual['paths'], usual['methods']), (['/v2/queues/shared/messages'], ['GET']))


for part in (service, queue, messages, claims, subscriptions, shared):
    print('-- %s' % part.__name__)
    part()
sys.exit(checks.finish(watched))
