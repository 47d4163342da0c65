extension LocalAPI {
    static let breeds = [
        """
        {
          "id": "036feed0-da8a-42c9-ab9a-57449b530b13", "type": "breed",
          "attributes": {
            "name": "Affenpinscher", "description": "A small terrier with the face of a monkey and the heart of a lion.",
            "life": {"max": 16, "min": 14}, "male_weight": {"max": 5, "min": 3},
            "female_weight": {"max": 5, "min": 3}, "hypoallergenic": true
          },
          "relationships": {"group": {"data": {"id": "f56dc4b1-ba1a-4454-8ce2-bd5d41404a0c", "type": "group"}}}
        }
        """,
        """
        {
          "id": "dd9362cc-52e0-462d-b856-fccdcf24b140", "type": "breed",
          "attributes": {
            "name": "Afghan Hound", "description": "A sighthound of the mountains, known for its long silken coat.",
            "life": {"max": 15, "min": 12}, "male_weight": {"max": 27, "min": 23},
            "female_weight": {"max": 25, "min": 20}, "hypoallergenic": false
          },
          "relationships": {"group": {"data": {"id": "be0147df-7755-4228-b132-14518c0c6d10", "type": "group"}}}
        }
        """,
        """
        {
          "id": "1460844f-841c-4de8-b788-271aa4d63224", "type": "breed",
          "attributes": {
            "name": "Akita", "description": "A large and loyal dog from the snowy north of Japan.",
            "life": {"max": 14, "min": 10}, "male_weight": {"max": 59, "min": 45},
            "female_weight": {"max": 45, "min": 32}, "hypoallergenic": false
          },
          "relationships": {"group": {"data": {"id": "8000793f-a1ae-4ec4-8d55-ef83f1f644e5", "type": "group"}}}
        }
        """,
    ]

    static let facts = [
        #"{"id": "1", "type": "fact", "attributes": {"body": "The print of a dog's nose is as unique as a fingerprint."}}"#,
        #"{"id": "2", "type": "fact", "attributes": {"body": "Dalmatians are born without their spots."}}"#,
        #"{"id": "3", "type": "fact", "attributes": {"body": "The Basenji does not bark; it yodels."}}"#,
    ]
}
