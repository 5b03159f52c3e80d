use materia_engine::{MemoryJournal, journal_contract};

#[tokio::test]
async fn the_journal_in_memory_keeps_the_contract() {
    let journal = MemoryJournal::default();
    journal_contract::holds(&journal, &journal.clone()).await;
}
