-- Beside the recorded claims: a key that does harm where it is not escaped, and Sent claims that are
-- old enough to be purged.
INSERT INTO public."OutgoingEmails" ("IdempotencyKey", "Status", "ClaimedAtUtc", "ProviderMessageId")
VALUES (E'"''</script><img src=x>\nline two', 0, now() - interval '2 hours', NULL),
       ('invoice-email:1', 1, now() - interval '40 days', 'msg-old-1'),
       ('invoice-email:2', 1, now() - interval '41 days', 'msg-old-2'),
       ('invoice-email:3', 1, now() - interval '2 days', 'msg-new');
